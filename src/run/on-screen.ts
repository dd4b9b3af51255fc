import type { OutputOptions } from '../format/result.ts';
import type { Io } from '../platform/streams.ts';

/** Whether the output is a table that is shown on a terminal. */
export const isOnScreen = ({ io, output }: { readonly io: Io; readonly output: OutputOptions }): boolean =>
  io.stdout.isTerminal && output.format === 'table' && !output.fields && output.query === undefined;
