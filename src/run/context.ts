import type { PrintingCommand } from '../api/outputs/printed.ts';
import type { Diagnosis } from '../config/diagnose.ts';
import type { LooseFolders } from '../config/paths.ts';
import type { Setting, Settings } from '../config/resolve.ts';
import type { SettingsStore } from '../config/store.ts';
import type { Column, OutputOptions, Row } from '../format/result.ts';
import type { Client } from '../http/client.ts';
import type { RateLimiterSlot } from '../http/transport/paced.ts';
import type { LastList } from '../journal/saved-files.ts';
import type { Uploads } from '../journal/uploads.ts';
import type { WebhookStore } from '../journal/webhook-store.ts';
import type { ServiceClock } from '../platform/clock.ts';
import type { ErrandError } from '../platform/errors.ts';
import type { InputLine, Io } from '../platform/streams.ts';
import type { OrderContext } from './order-context.ts';

/** What a command may use. Expensive parts are created on demand. */
export interface Context extends OrderContext {
  readonly argv: readonly string[];
  /** This process's pid. */
  readonly pid: number;
  readonly version: string;
  readonly io: Io;
  /** Wall clock of the service, used for the ages of its records. */
  readonly serviceClock: ServiceClock;
  /** Aborted by the first SIGINT, SIGTERM, SIGHUP or SIGQUIT. */
  readonly signal: AbortSignal;
  readonly settings: Settings;
  /**
   * Set if other users may replace errand's folders. Not set for a command that diagnoses settings, because its
   * `diagnosis` reports this problem.
   */
  readonly looseFolders: LooseFolders | undefined;
  /** Problems with the settings. Only set for commands that report them. */
  readonly diagnosis: Diagnosis | undefined;
  readonly output: OutputOptions;
  /**
   * The key in use; undefined if there is none. Runs the profile's key command on the first call. @throws ErrandError
   * authentication if the command gives no key.
   */
  apiKey(): Promise<Setting<string> | undefined>;
  /** Gives the local profile a key and the example address if it has none. */
  ready(): Promise<void>;
  /** A client that ignores interruptions, for cleanup. */
  lastingClient(): Promise<Client>;
  /** Rate limit shared with other processes. Once the limit is set, requests of this run observe it. */
  readonly pace: RateLimiterSlot;
  /** Whether the service has carried out a write for this run. */
  hasWritten(): boolean;
  webhooks(): Promise<WebhookStore>;
  /** Uploads known on this machine. */
  uploads(): Promise<Uploads>;
  /** The last list printed on this terminal; undefined without a terminal. */
  lastList(): Promise<LastList | undefined>;
  /**
   * Facts about values that the user gave as row numbers. They come from the last list, and are keyed by the resolved
   * value.
   */
  readonly rowFacts: ReadonlyMap<string, Readonly<Record<string, string>>>;
  store(): Promise<SettingsStore>;
  /** Loads the prompts, which are imported on demand. */
  prompt(): Promise<Prompt>;
  /** Starts a progress display on stderr; the caller must end it. */
  progress(options: ProgressOptions): Promise<Progress>;
  /** Every command with the description of its output, in the order of the help. Loads all commands. */
  commands(): Promise<readonly PrintingCommand[]>;
  /** How long to wait, in ms; undefined without `--timeout`. */
  waitMs(): number | undefined;
  /** Prints lines for people on stderr, like `note`. @returns whether stderr accepted them. */
  log(lines: readonly string[]): Promise<boolean>;
  /** Reports an error on stderr and continues. */
  report(error: ErrandError): Promise<void>;
  /** Non-blank lines of stdin. */
  readLines(): Promise<InputLine[]>;
  /**
   * Creates a nested run, which reads settings, key and policy again. Meant for a long-lived program that acts
   * repeatedly. The caller must close it.
   */
  withOverrides(run: WithinRun): Promise<Context>;
  close(): Promise<void>;
}

/** How a nested run differs from its parent. */
interface WithinRun extends Pick<Context, 'io' | 'signal'> {
  /** The program that requested the run, for the audit chain. */
  readonly program: string;
  /** The action, for the audit chain. */
  readonly command: string;
}

export interface TextOptions {
  /** Returns why a text is rejected. Undefined if the text is accepted. */
  readonly check?: (text: string) => string | undefined | Promise<string | undefined>;
  readonly default?: string;
  readonly optional?: boolean;
}

/** Prompts on a terminal. Each method throws ErrandError `interrupted` on Ctrl-C and Ctrl-D. */
interface Prompt {
  /** Asks for a line of text. */
  askText(context: Context, message: string, options?: TextOptions): Promise<string>;
  /** Asks for one of several values. */
  askChoice<T extends string>(context: Context, message: string, choices: readonly T[]): Promise<T>;
  /**
   * Asks the user to choose one record, or one of the `others`, which are listed below the records. `first` is the
   * default.
   */
  askRow<R extends Row, O extends string = never>(
    context: Context,
    message: string,
    rows: readonly R[],
    columns: readonly Column[],
    options?: { readonly others?: readonly O[]; readonly first?: R | O | undefined },
  ): Promise<R | O>;
  /** Asks the user to choose one or more records. All records are preselected. */
  askRows<R extends Row>(
    context: Context,
    message: string,
    rows: readonly R[],
    columns: readonly Column[],
  ): Promise<R[]>;
  /** Asks a question that is answered with yes or no. The default is no. */
  confirm(context: Context, message: string): Promise<boolean>;
  /** Asks whether to continue with what was shown, or to change it first. The default is no. */
  askReview(context: Context, message: string): Promise<'yes' | 'no' | 'edit'>;
  /** Lines that were typed or pasted, but that the last prompt did not read. */
  takeTyped(context: Context): Promise<string[]>;
  /** Asks for a secret without echoing it. Repeats the question until a value is accepted. */
  askSecret(context: Context, message: string, options?: Omit<TextOptions, 'default'>): Promise<string>;
}

export interface ProgressOptions {
  /** What is being done, such as `uploading`. */
  readonly label: string;
  /** Total amount of work. If the total is unknown, no bar and no remaining time are shown. */
  readonly total?: number;
  /** Amount that was already done at the start. It does not count towards the rate and the remaining time. */
  readonly from?: number;
  /** Unit, in the plural: `rows`. */
  readonly unit?: string;
  /** Monotonic time in ms. It determines the rate and the remaining time. */
  readonly now: () => number;
}

export interface Progress {
  /**
   * @param done is the amount done so far.
   * @param note is a short status text.
   * @param isWaiting tells whether the work is stalled. If so, the rate and the remaining time are meaningless.
   */
  update(done: number, note?: string, isWaiting?: boolean): void;
  /** Removes the bar. Must always be called, even after a failure. */
  end(): void;
}
