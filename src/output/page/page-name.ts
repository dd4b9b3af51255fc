import { UsageError } from '../../errors.ts';

/** A page has a file of its own, beside what goes to stdout. @throws UsageError for a name that means stdout. */
export function checkPageName(name: string): void {
  if (name === '-') throw new UsageError('--html takes the name of a file, such as page.html, not -');
}
