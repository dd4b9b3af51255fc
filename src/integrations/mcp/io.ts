import { Readable } from 'node:stream';
import type { Io } from '../../platform/streams.ts';
import type { Context } from '../../run/context.ts';

/**
 * Streams for the tool calls of an agent. Calls cannot write to stdout, which is reserved for the protocol, and cannot
 * prompt anybody.
 */
export function agentIo({ io: { stderr, commandName, programFile } }: Context): Io {
  const notes = { ...stderr, isTerminal: false, columns: () => undefined };
  return {
    stdin: { stream: Readable.from([]), isTerminal: false },
    stdout: notes,
    stderr: notes,
    ...(commandName && { commandName }),
    programFile,
  };
}
