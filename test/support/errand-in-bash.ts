import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** One run of the program, as a line in bash has it. */
export interface Call {
  readonly args: readonly string[];
  readonly folder: string;
  readonly environment: Record<string, string>;
  readonly stdin?: string;
}

interface Printed {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Whether a line may run the program in a shared process: nothing in it goes on beside the program, stops reading it, or hears its
 * two streams as one.
 */
export const mayShare = (line: string): boolean =>
  /\berrand\b/.test(line) &&
  !/&|<\(|(?<![-'.]|audit )\b(?:head|while|until|read|trap|kill|sleep|exec|serve|listen|mcp|timeout)\b/.test(
    line.replaceAll('&&', ''),
  );

/** Runs what one line in bash calls `errand`. What writes to a file or a device has a process of its own: the program sees the difference. */
export class ErrandInBash implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'errand-bash-'));
  readonly #server = createServer((socket) => void this.#answer(socket));
  readonly #run: (call: Call) => Promise<Printed> | undefined;
  #error: unknown;

  /** @param run undefined for a call that needs a process of its own. */
  constructor(run: (call: Call) => Promise<Printed> | undefined) {
    this.#run = run;
  }

  /** A line with a function `errand` in front, in place of the program on the PATH. */
  async with(line: string): Promise<string> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening');
    const { port } = this.#server.address() as AddressInfo;
    return `exec 9<&0
errand() {
  local at answer code
  if ! [ -p /dev/stdout -o -S /dev/stdout ] || ! [ -p /dev/stderr -o -S /dev/stderr ]; then
    command errand "$@"
    return
  fi
  at=$(mktemp -d '${this.#folder}/XXXXXX')
  [ $# -eq 0 ] || printf '%s\\0' "$@" >"$at/args"
  env -0 >"$at/env"
  [ /dev/stdin -ef /dev/fd/9 ] || cat >"$at/stdin"
  exec {answer}<>/dev/tcp/127.0.0.1/${port}
  printf '%s\\n' "$at" >&$answer
  read -r -u $answer code
  exec {answer}>&-
  if [ "$code" = own ]; then
    [ ! -e "$at/stdin" ] || exec <"$at/stdin"
    command errand "$@" && code=0 || code=$?
  else
    cat "$at/stdout" || :
    cat "$at/stderr" >&2
  fi
  return "$code"
}
${line}`;
  }

  /** @throws what a run has thrown. */
  check(): void {
    if (this.#error !== undefined) throw this.#error;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    await closed;
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #answer(socket: Socket): Promise<void> {
    socket.on('error', () => {});
    const [at] = (await once(createInterface(socket), 'line')) as [string];
    try {
      const ended = await this.#run(callIn(at));
      if (ended) {
        writeFileSync(join(at, 'stdout'), ended.stdout);
        writeFileSync(join(at, 'stderr'), ended.stderr);
      }
      socket.end(`${ended?.code ?? 'own'}\n`);
    } catch (error) {
      this.#error ??= error;
      socket.end('1\n');
    }
  }
}

function callIn(at: string): Call {
  const textOf = (name: string): string | undefined => {
    try {
      return readFileSync(join(at, name), 'utf8');
    } catch {
      return undefined;
    }
  };
  const partsOf = (name: string): string[] => (textOf(name) ?? '').split('\0').slice(0, -1);
  const environment = Object.fromEntries(
    partsOf('env').map((one) => {
      const end = one.indexOf('=');
      return [one.slice(0, end), one.slice(end + 1)];
    }),
  );
  const stdin = textOf('stdin');
  const folder = environment.PWD ?? '/';
  return { args: partsOf('args'), folder, environment, ...(stdin !== undefined && { stdin }) };
}
