import type { Clock } from './clock.ts';
import type { ErrandError } from './errors.ts';
import type { Client } from './http/client.ts';
import type { Io } from './io.ts';
import type { OutputOptions } from './output/result.ts';
import type { SandboxDoor } from './sandbox-door.ts';
import type { Settings } from './settings/resolve.ts';
import type { SettingsStore } from './settings/store.ts';
import type { Journal } from './state/journal.ts';

type Prompt = typeof import('./prompt/index.ts');

export interface Line {
  readonly text: string;
  readonly number: number;
}

/** What a command may touch. What is costly is made when it is first asked for. */
export interface Context {
  readonly io: Io;
  readonly clock: Clock;
  /** Aborted by the first Ctrl-C or SIGTERM. */
  readonly signal: AbortSignal;
  readonly settings: Settings;
  readonly output: OutputOptions;
  /** Whether anyone can answer a prompt; otherwise why not. */
  readonly interactive: { readonly yes: true } | { readonly yes: false; readonly why: string };
  client(): Promise<Client>;
  journal(): Promise<Journal>;
  store(): Promise<SettingsStore>;
  prompt(): Promise<Prompt>;
  sandbox(): Promise<SandboxDoor>;
  /** A line for people, on stderr; made safe for the terminal. */
  note(line: string): void;
  /** Reports a failure on stderr and goes on. */
  report(error: ErrandError): Promise<void>;
  /** Lines of stdin that are not blank, without their line ends. */
  readLines(): Promise<Line[]>;
  /** All of stdin, at most `limit` bytes. @throws UsageError past that. */
  readInput(limit: number): Promise<Buffer>;
}
