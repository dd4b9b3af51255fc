import type { ChildProcess } from 'node:child_process';
import { Writable } from 'node:stream';
import type { Io, Pager } from '../../platform/streams.ts';
import { writerOf } from './writer.ts';

const lineBreak = 0x0a;

/**
 * Buffers text until it is clear whether the text fits on the terminal. If it does not fit, the text goes to the pager
 * as it arrives. If it fits, the text is written at the end.
 */
export class PagedStream extends Writable {
  readonly #target: Writable;
  readonly #program: Pager;
  /** Number of lines that fit the terminal. */
  readonly #room: number;
  #held: Buffer[] = [];
  #lines = 0;
  #pager: ChildProcess | undefined;
  #ended: Promise<void> = Promise.resolve();

  constructor({ stdout }: Io, program: Pager) {
    super();
    this.#target = stdout.stream;
    this.#program = program;
    this.#room = Math.max(1, (stdout.rows?.() || 24) - 1);
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: (error?: Error | null) => void): void {
    if (this.#pager) {
      this.#toPager(chunk, done);
      return;
    }
    this.#held.push(chunk);
    for (const byte of chunk) if (byte === lineBreak) this.#lines += 1;
    if (this.#lines <= this.#room) done();
    else this.#open().then(() => done(), done);
  }

  /** Writes any text that is still buffered, and waits until the user has left the pager. */
  async finish(): Promise<void> {
    this.#pager?.stdin?.end();
    await this.#ended;
    const held = Buffer.concat(this.#held);
    this.#held = [];
    if (held.length === 0) return;
    await writerOf(this.#target).writeBytes(held);
  }

  async #open(): Promise<void> {
    const { spawn } = await import('node:child_process');
    const { command, environment } = this.#program;
    const pager = spawn(command, {
      shell: true,
      stdio: ['pipe', 'inherit', 'inherit'],
      env: { LESS: 'FRX', ...environment },
    });
    this.#pager = pager;
    // The user may quit the pager before the end. Ignore the resulting stream error here, because each write reports it
    // to its caller.
    pager.stdin.on('error', () => {});
    // Exit code of the shell if there is no such program. The text is then shown without a pager.
    const missing = 127;
    this.#ended = new Promise((resolve) => {
      pager.on('error', () => resolve());
      pager.on('close', (code) => {
        if (code !== missing) this.#held = [];
        resolve();
      });
    });
    await new Promise<void>((resolve) => {
      this.#toPager(Buffer.concat(this.#held), () => resolve());
    });
  }

  #toPager(chunk: Buffer, done: (error?: Error | null) => void): void {
    const stdin = this.#pager?.stdin;
    if (!stdin || stdin.destroyed) done(closed());
    else stdin.write(chunk, (error) => done(error ? closed() : null));
  }
}

const closed = (): NodeJS.ErrnoException =>
  Object.assign(new Error('the pager has ended'), { code: 'EPIPE' });

/** Writes a whole text, through the pager if the text is longer than the terminal. */
export async function writePaged(text: string, io: Io, pager: Pager | undefined): Promise<void> {
  if (pager === undefined || !io.stdout.isTerminal || !io.stdin.isTerminal) {
    io.stdout.stream.write(text);
    return;
  }
  const paged = new PagedStream(io, pager);
  paged.on('error', () => {});
  paged.write(text);
  await new Promise<void>((resolve) => paged.end(resolve));
  await paged.finish();
}
