import { lstatSync } from 'node:fs';
import { UsageError } from '../errors.ts';

/** Before the work that would be for nothing. @throws UsageError naming the files that would be written over. */
export function refuseOverwriting(paths: readonly string[]): void {
  const there = paths.filter((path) => lstatSync(path, { throwIfNoEntry: false }));
  if (there.length === 0) return;
  const [are, them] = there.length > 1 ? ['are', 'them'] : ['is', 'it'];
  throw new UsageError(`${there.join(', ')} ${are} there already; --force writes over ${them}`);
}
