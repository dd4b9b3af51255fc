import type { PrintingCommand } from '../api/outputs/printed.ts';
import type { Diagnosis } from '../config/diagnose.ts';
import type { Settings } from '../config/resolve.ts';
import type { SettingsStore } from '../config/store.ts';
import type { Column, OutputOptions, Row } from '../format/result.ts';
import type { Client } from '../http/client.ts';
import type { PaceKeeper } from '../http/transport/paced.ts';
import type { LastList } from '../journal/saved-files.ts';
import type { Uploads } from '../journal/uploads.ts';
import type { WebhookStore } from '../journal/webhook-store.ts';
import type { ServiceClock } from '../platform/clock.ts';
import type { ErrandError } from '../platform/errors.ts';
import type { InputLine, Io } from '../platform/streams.ts';
import type { OrderContext } from './order-context.ts';

/** What a command may touch. What is costly is made when it is first needed. */
export interface Context extends OrderContext {
  readonly argv: readonly string[];
  /** Of this process. */
  readonly pid: number;
  readonly version: string;
  readonly io: Io;
  /** The time at the service, from which the ages of its records are counted. */
  readonly serviceClock: ServiceClock;
  /** Aborted by the first Ctrl-C or SIGTERM. */
  readonly signal: AbortSignal;
  readonly settings: Settings;
  /** What is wrong with the settings, for a command that looks for it. */
  readonly diagnosis: Diagnosis | undefined;
  readonly output: OutputOptions;
  /** Gets the local profile its key and its example address, if it has none yet. */
  ready(): Promise<void>;
  /** A client that an interruption does not end, for what must be put back. */
  lastingClient(): Promise<Client>;
  /** The pace that requests keep from now on, where others keep it too. */
  readonly pace: PaceKeeper;
  /** Whether the service has carried out a write of this run. */
  hasWritten(): boolean;
  webhooks(): Promise<WebhookStore>;
  /** What is known here of the files that were uploaded. */
  uploads(): Promise<Uploads>;
  /** The list that this terminal printed last; undefined where there is no terminal. */
  lastList(): Promise<LastList | undefined>;
  /** What that list says of the values that were given by the number of a row, by the value that stands in its place. */
  readonly rowFacts: ReadonlyMap<string, Readonly<Record<string, string>>>;
  store(): Promise<SettingsStore>;
  /** Loads what asks a person. */
  prompt(): Promise<Prompt>;
  /** Shows on stderr how far long work is; whoever asks for it ends it. */
  progress(options: ProgressOptions): Promise<Progress>;
  /** Every command of the program with what it prints, in the order of the help; loads all of them. */
  commands(): Promise<readonly PrintingCommand[]>;
  /** How long to wait for what a command awaits, ms; undefined without `--timeout`. */
  waitMs(): number | undefined;
  /** Lines for people, on stderr, as `note` has one. @returns whether stderr took them. */
  tell(lines: readonly string[]): Promise<boolean>;
  /** Reports a failure on stderr and goes on. */
  report(error: ErrandError): Promise<void>;
  /** Lines of stdin that are not blank. */
  readLines(): Promise<InputLine[]>;
  /**
   * A run of its own within this one, for a program that lives long and acts again and again: settings, key and policy are
   * read anew. Whoever makes it closes it.
   */
  anew(run: WithinRun): Promise<Context>;
  close(): Promise<void>;
}

/** How a run within a run differs from it. */
interface WithinRun extends Pick<Context, 'io' | 'signal'> {
  /** Who has it made, for the audit chain. */
  readonly program: string;
  /** What is done, for the audit chain. */
  readonly command: string;
}

export interface TextOptions {
  /** Why a text is refused; undefined when it is taken. */
  readonly check?: (text: string) => string | undefined | Promise<string | undefined>;
  readonly default?: string;
  readonly optional?: boolean;
}

/** Asks a person at a terminal. Each question throws ErrandError interrupted on Ctrl-C and Ctrl-D. */
interface Prompt {
  /** Asks for a line of text. */
  askText(context: Context, message: string, options?: TextOptions): Promise<string>;
  /** Asks for one of several values. */
  askChoice<T extends string>(context: Context, message: string, choices: readonly T[]): Promise<T>;
  /** Asks for one of several records, or for one of `others`, which stand below them. `first` is what an Enter takes. */
  askRow<R extends Row, O extends string = never>(
    context: Context,
    message: string,
    rows: readonly R[],
    columns: readonly Column[],
    options?: { readonly others?: readonly O[]; readonly first?: R | O | undefined },
  ): Promise<R | O>;
  /** Asks for some of several records, at least one; all are chosen until one is taken away. */
  askRows<R extends Row>(
    context: Context,
    message: string,
    rows: readonly R[],
    columns: readonly Column[],
  ): Promise<R[]>;
  /** Asks yes or no; no unless yes is said. */
  confirm(context: Context, message: string): Promise<boolean>;
  /** Asks for a secret until one is taken; nothing of it is shown. */
  askSecret(context: Context, message: string, options?: Omit<TextOptions, 'default'>): Promise<string>;
}

export interface ProgressOptions {
  /** What is being done: `uploading`. */
  readonly label: string;
  /** How much there is to do; without it there is neither bar nor ETA. */
  readonly total?: number;
  /** How much was done before; rate and ETA leave it out. */
  readonly from?: number;
  /** What is counted, in the plural: `rows`. */
  readonly unit?: string;
  /** ms since some moment of the past; rate and ETA are made of it. */
  readonly now: () => number;
}

export interface Progress {
  /**
   * @param done how much is done by now. @param note a word on what is happening. @param isWaiting whether the work stands still,
   * so that rate and time left say nothing.
   */
  update(done: number, note?: string, isWaiting?: boolean): void;
  /** Takes the bar away. Call it whatever happens. */
  end(): void;
}
