import type { OutputOptions } from '../format/result.ts';
import type { Io } from '../platform/streams.ts';

/** Whether a person sees the columns of a terminal. */
export const isOnScreen = ({ io, output }: { readonly io: Io; readonly output: OutputOptions }): boolean =>
  io.stdout.isTerminal && output.format === 'table' && !output.fields && output.query === undefined;
