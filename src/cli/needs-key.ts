import { operations } from '../api/operations/index.ts';
import type { AnyCommand } from './define.ts';

/** Whether a command needs the key, because it declares so or because it calls an operation that takes one. */
export const needsKey = ({
  needsKey: says,
  anyOperation,
  operations: called = [],
}: Pick<AnyCommand, 'needsKey' | 'anyOperation' | 'operations'>): boolean =>
  says ??
  (anyOperation === true || called.some((name) => ['bearer', 'basic'].includes(operations[name].auth)));
