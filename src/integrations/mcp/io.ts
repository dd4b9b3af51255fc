import { Readable } from 'node:stream';
import type { Io } from '../../platform/streams.ts';
import type { Context } from '../../run/context.ts';

/** Streams of what an agent asks for: stdout is reserved for the protocol, and nobody can be prompted. */
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
