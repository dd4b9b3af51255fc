import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, constants, openSync, readFileSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { shell } from '../support/run.ts';
import type { Workspace } from '../support/workspace.ts';

const program = 'errand';

/** Where a stream of a program goes: to the pipe, or to the test. */
type Ends = 'pipe' | 'test';

/** A pipe open at both ends that is not read until the test does so. */
interface Unread {
  /** Writes until the pipe is full. */
  fill(): void;
  /** Reads what is in the pipe; undefined if it is empty. */
  read(): Buffer | undefined;
  /** Starts the program with its streams connected to the pipe. */
  begin(args: readonly string[], streams?: { stdout?: Ends; stderr?: Ends }): Running;
}

export interface Running {
  readonly child: ChildProcess;
  /** Output on the streams that go to the test. */
  told(): string;
  /** Resolves with the exit code or the terminating signal. */
  readonly ended: Promise<unknown>;
}

const isEmptyOrFull = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'EAGAIN';

export async function unreadPipe(workspace: Workspace): Promise<Unread> {
  const path = join(workspace.folder, 'unread');
  expect((await shell(workspace, 'mkfifo unread')).code).toBe(0);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  // A blocking descriptor, as a shell provides.
  const writer = openSync(path, constants.O_WRONLY);
  onTestFinished(() => {
    for (const descriptor of [reader, writer]) closeSync(descriptor);
  });
  const buffer = Buffer.alloc(64 * 1024);
  return {
    fill() {
      const filler = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
      const page = Buffer.alloc(4096);
      try {
        for (;;) writeSync(filler, page);
      } catch (error) {
        if (!isEmptyOrFull(error)) throw error;
      } finally {
        closeSync(filler);
      }
    },
    read() {
      try {
        return Buffer.from(buffer.subarray(0, readSync(reader, buffer)));
      } catch (error) {
        if (!isEmptyOrFull(error)) throw error;
        return undefined;
      }
    },
    begin(args, { stdout = 'pipe', stderr = 'test' } = {}) {
      const [out, err] = [stdout, stderr].map((end) => (end === 'pipe' ? writer : ('pipe' as const)));
      const child = spawn(program, args, {
        cwd: workspace.folder,
        env: workspace.environment,
        stdio: ['ignore', out, err],
      });
      onTestFinished(() => void child.kill('SIGKILL'));
      let told = '';
      for (const stream of [child.stdout, child.stderr])
        stream?.on('data', (text) => {
          told += text;
        });
      const ended = new Promise((resolve) => child.on('exit', (code, signal) => resolve(code ?? signal)));
      return { child, told: () => told, ended };
    },
  };
}

/** Whether the program's stdout is still blocking; the flag is shared by all holders of the pipe. */
export function stdoutWaits({ child }: Running): boolean {
  const [, flags = ''] = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/${child.pid}/fdinfo/1`, 'utf8')) ?? [];
  return (Number.parseInt(flags, 8) & constants.O_NONBLOCK) === 0;
}
