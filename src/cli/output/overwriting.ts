import { lstatSync } from 'node:fs';
import { UsageError } from '../../platform/errors.ts';

/** Before the work that would be for nothing. @throws UsageError naming the files that would be written over. */
export function refuseOverwriting(paths: readonly string[]): void {
  const there = paths.filter((path) => lstatSync(path, { throwIfNoEntry: false }));
  if (there.length === 0) return;
  const [exist, them] = there.length > 1 ? ['exist', 'them'] : ['exists', 'it'];
  throw new UsageError(`${there.join(', ')} already ${exist}; use --force to overwrite ${them}`);
}

/** For names that no person has typed. @throws UsageError naming what --force would not replace either. */
export function refuseNonFiles(paths: readonly string[]): void {
  const others = paths.filter((path) => lstatSync(path, { throwIfNoEntry: false })?.isFile() === false);
  if (others.length === 0) return;
  const [are, them] =
    others.length > 1
      ? ['are there, and are no plain files', 'them']
      : ['is there, and is no plain file', 'it'];
  throw new UsageError(`${others.join(', ')} ${are}; move ${them} away`);
}
