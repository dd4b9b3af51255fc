import { PassThrough, Writable } from 'node:stream';
import type { OutputOptions, Result } from '../../src/format/result.ts';
import type { Io, OutputStream } from '../../src/platform/streams.ts';

export const noon = Date.parse('2026-06-15T12:00:00Z');

interface Shape {
  readonly terminal?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  readonly color?: boolean;
  readonly dumb?: boolean;
}

/** A stream that captures its output and wakes waiters on each write. */
export class Capture extends Writable {
  text = '';
  #waiting: (() => void)[] = [];

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.text += chunk.toString();
    for (const wake of this.#waiting.splice(0)) wake();
    done();
  }

  /** Resolves with the next write. */
  written(): Promise<void> {
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}

/** A stream whose reader goes away after `bytes`. */
export class ClosingPipe extends Writable {
  seen = 0;
  readonly #bytes: number;
  readonly #code: string;

  constructor(bytes: number, code = 'EPIPE') {
    super();
    this.#bytes = bytes;
    this.#code = code;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error) => void): void {
    this.seen += chunk.length;
    done(
      this.seen > this.#bytes
        ? Object.assign(new Error(`write ${this.#code}`), { code: this.#code })
        : undefined,
    );
  }
}

export function output(
  stream: Writable,
  { terminal = false, columns, rows, color = false, dumb = false }: Shape,
): OutputStream {
  return { stream, isTerminal: terminal, color, columns: () => columns, rows: () => rows, isDumb: dumb };
}

export function capture(stdout: Shape = {}, stderr: Shape = {}) {
  const out = new Capture();
  const err = new Capture();
  const io: Io = {
    stdin: { stream: new PassThrough(), isTerminal: false },
    stdout: output(out, stdout),
    stderr: output(err, stderr),
    programFile: '',
  };
  return { io, out, err };
}

export const withStdout = (io: Io, stream: Writable): Io => ({ ...io, stdout: output(stream, {}) });

/** Prints a result; returns both streams and the exit code. */
export async function printed(
  result: Result,
  options: Partial<OutputOptions>,
  stdout: Shape = {},
  stderr: Shape = {},
) {
  const { printResult } = await import('../../src/cli/output/render.ts');
  const { io, out, err } = capture(stdout, stderr);
  const exitCode = await printResult(result, io, { format: 'table', now: () => noon, ...options });
  return { out: out.text, err: err.text, exitCode };
}
