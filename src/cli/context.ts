import type { Surface } from '../api/operation.ts';
import type { PrintingCommand } from '../api/outputs/printed.ts';
import type { Diagnosis } from '../config/diagnose.ts';
import { keyMode, maskKey, withoutKeys } from '../config/keys.ts';
import type { Environment, Folders } from '../config/paths.ts';
import { checkState, findLooseFolders, makeStateFolder, resolveFolders } from '../config/paths.ts';
import { resolveSettings, type Setting, type Settings } from '../config/resolve.ts';
import { SettingsStore } from '../config/store.ts';
import { BrokenConfigError, embeddedUrl, emptyStored, profilesAt, type Stored } from '../config/stored.ts';
import type { OutputFormat } from '../format/result.ts';
import type { RunIntents } from '../journal/intents.ts';
import type { Journal } from '../journal/journal.ts';
import type { Signer } from '../journal/journal-record.ts';
import { closeAll, once } from '../platform/async.ts';
import { ServiceClock, systemClock } from '../platform/clock.ts';
import { ErrandError } from '../platform/errors.ts';
import { RetryBudget } from '../platform/poll.ts';
import { type Io, interactivity } from '../platform/streams.ts';
import type { Context } from '../run/context.ts';
import { deliverLines, noteLines } from './output/notice.ts';
import { outputOptions } from './output/options.ts';

interface Making {
  readonly argv: readonly string[];
  readonly environment: Environment;
  readonly platform: NodeJS.Platform;
  readonly pid: number;
  readonly io: Io;
  readonly signal: AbortSignal;
  readonly globals: Readonly<Record<string, unknown>>;
  readonly version: string;
  /** Whether the command may rewrite a broken configuration. */
  readonly repairsConfig: boolean;
  /** The command's own default format. */
  readonly defaultFormat?: OutputFormat | undefined;
  /** Whether the command diagnoses the settings. */
  readonly diagnoses?: boolean;
  /** Whether the command needs the key. If so, the profile's key command runs before the command. */
  needsKey?(): Promise<boolean>;
  /** Keys printed by key commands, keyed by command. A long-lived program runs each command only once. */
  readonly printedKeys?: Map<string, string>;
  /** The command line for the audit chain, with its private parts removed. */
  privateCommand(): Promise<string>;
  commands(): Promise<readonly PrintingCommand[]>;
  /** The program that runs the command; absent if a person runs it in a shell. */
  readonly program?: string;
}

/** Creates the context of a run. @throws UsageError for an invalid setting, naming the flag or variable. */
export async function createContext(making: Making): Promise<Context> {
  const { argv, environment, io, signal, globals, version } = making;
  const folders = resolveFolders(environment, making.platform);
  const note = (line: string): void => noteLines([line], io);
  const waiting = { signal, retryBudget: new RetryBudget() };
  const store = new SettingsStore(
    folders.config,
    making.diagnoses ? () => {} : note,
    waiting,
    async (changes) => {
      const { appendOrReport: appendOrTell } = await import('../journal/append-or-report.ts');
      for (const change of changes) await appendOrTell(context, { kind: 'key', ...change });
    },
  );
  if (!making.diagnoses) checkState(folders.state, note);
  const { settings, diagnosis } = await readSettings(making, store, folders);
  if (settings.tlsChecksOff && !diagnosis)
    note('warning: NODE_TLS_REJECT_UNAUTHORIZED=0 turns certificate checks off; anyone can read the key');
  const preview = globals.curl === true ? 'curl' : globals.dryRun === true ? 'request' : undefined;
  const serviceClock = new ServiceClock(systemClock);
  const printedKeys = making.printedKeys ?? new Map<string, string>();
  const run: Run = {
    ...{ making, folders, settings, store, waiting, note, printedKeys },
    closers: [],
    context: () => context,
  };
  const context: Context = {
    argv,
    pid: making.pid,
    commands: making.commands,
    version,
    io,
    clock: systemClock,
    serviceClock,
    signal,
    settings,
    output: await outputOptions(globals, settings, serviceClock, making.defaultFormat),
    looseFolders: diagnosis ? undefined : findLooseFolders(folders),
    diagnosis,
    interactive: interactivity(io, settings.noInput),
    previewsRequests: preview !== undefined,
    previewsReads: preview === 'curl',
    ...clientMembers(run, preview),
    ...stateMembers(run),
    ...accountMembers(run),
    ...terminalMembers(run),
    pace: { current: undefined },
    environment: withoutKeys(environment),
    rowFacts: new Map(),
    store: async () => store,
    profilesAt: async (baseUrl) => profilesAt(store.stored, baseUrl),
    waitMs: () => (settings.timeoutMs.from === 'flag' ? settings.timeoutMs.value : undefined),
    withOverrides: ({ command, ...changes }) =>
      createContext({ ...making, ...changes, printedKeys, privateCommand: async () => command }),
    close: async () => {
      await closeAll(run.closers.toReversed());
    },
  };
  if (settings.keyCommand && (await making.needsKey?.())) await context.apiKey();
  return context;
}

/** State shared by the parts of one context. */
interface Run {
  readonly making: Making;
  readonly folders: Folders;
  readonly settings: Settings;
  readonly store: SettingsStore;
  readonly waiting: { readonly signal: AbortSignal; readonly retryBudget: RetryBudget };
  readonly note: (line: string) => void;
  readonly printedKeys: Map<string, string>;
  /** Closed in reverse order when the run ends. */
  readonly closers: (() => void | Promise<void>)[];
  /** Returns the whole context; call it only once the context has been created. */
  context(): Context;
}

/** Opens the client of the service on first use. */
function clientMembers(
  { making, closers, context }: Run,
  preview: 'curl' | 'request' | undefined,
): Pick<Context, 'client' | 'ready' | 'lastingClient' | 'hasWritten'> {
  let hasWritten = false;
  const open = async (ended: AbortSignal) => {
    const { openClient } = await import('./client/open.ts');
    const wrote = (): void => {
      hasWritten = true;
    };
    const made = await openClient({ ...context(), signal: ended }, preview, wrote);
    closers.push(() => made.client.close());
    return made;
  };
  const opened = once(() => open(making.signal));
  return {
    client: async () => (await opened()).client,
    ready: async () => (await opened()).ready(),
    lastingClient: once(async () => (await open(new AbortController().signal)).client),
    hasWritten: () => hasWritten,
  };
}

/** Opens the stores in the state folder, each on first use. */
function stateMembers(
  run: Run,
): Pick<Context, 'journal' | 'origin' | 'unreported' | 'webhooks' | 'uploads' | 'lastList'> {
  const { making, folders, settings, store, waiting, note, closers, context } = run;
  const { environment } = making;
  const { database: address } = settings;
  const shared = address && { address, maxRequestMs: settings.timeoutMs.value };
  let intents: RunIntents | undefined;
  const journalSince = (): string | undefined => storedFor(store, true).journals[folders.state];
  const stateFolder = (): string => {
    makeStateFolder(folders.state, journalSince() !== undefined);
    return folders.state;
  };
  return {
    journal: refreshed(async () => {
      const { Journal } = await import('../journal/journal.ts');
      const { defaultWindowMs } = await import('../run/duplicate-window.ts');
      const journal = await Journal.open(stateFolder(), systemClock.now, {
        waiting,
        origin: await context().origin(),
        signer: (account) => signerOf(run, account),
        recentMs: settings.duplicateWindowMs.value ?? defaultWindowMs.live,
        ...(shared && { shared, warn: note }),
        creationMarker: {
          since: journalSince(),
          note: (at) => store.noteJournal(folders.state, at),
        },
      });
      closers.push(() => journal.close());
      intents = journal.run;
      return journal;
    }),
    origin: once(async () => {
      const { originOf } = await import('../config/actor.ts');
      return originOf(environment, await making.privateCommand(), making.program);
    }),
    unreported: () => intents?.all() ?? [],
    webhooks: once(async () => {
      const { openWebhookStore } = await import('../journal/webhook-store.ts');
      const webhooks = await openWebhookStore(stateFolder(), systemClock.now, { waiting });
      closers.push(() => webhooks.close());
      return webhooks;
    }),
    uploads: once(async () => {
      const { Uploads } = await import('../journal/uploads.ts');
      const uploads = await Uploads.open(stateFolder(), systemClock.now, { waiting, shared });
      closers.push(() => uploads.close());
      return uploads;
    }),
    lastList: once(async () => {
      const terminal = (await import('../config/terminal.ts')).terminalOf(environment, making.platform);
      if (terminal === undefined) return undefined;
      const { LastList } = await import('../journal/saved-files.ts');
      return new LastList(folders.state, terminal, systemClock.now);
    }),
  };
}

/**
 * Refreshes the journal on each access, so that a long-lived process sees what other machines have written. If a
 * refresh fails, the process continues with the records that it already has.
 */
function refreshed(openJournal: () => Promise<Journal>): () => Promise<Journal> {
  const opened = once(openJournal);
  return async () => {
    const journal = await opened();
    await journal.refresh().catch(() => {});
    return journal;
  };
}

/** Identifies the account for which requests are sent. */
function accountMembers(run: Run): Pick<Context, 'apiKey' | 'isRehearsal' | 'sender'> {
  const { settings, store } = run;
  let printed: Setting<string> | undefined;
  const apiKey = once(async () => {
    printed = await printedKey(run);
    return printed ?? settings.apiKey;
  });
  const currentKey = (): string | undefined => {
    if (settings.keyCommand && !printed)
      throw new Error('the key command was not run: its command lacks needsKey');
    // Read the stored profile again, because the local profile may have received a key since the run began.
    return (printed ?? settings.apiKey)?.value ?? store.profile(settings.profile.value)?.api_key;
  };
  const keyOf = (surface: Surface): string => {
    const token = surface === 'legacy' ? settings.legacyToken?.value : undefined;
    return token ?? currentKey() ?? '';
  };
  const addressOf = (surface: Surface): string =>
    (surface === 'legacy' ? settings.legacyBaseUrl : settings.baseUrl).value;
  return {
    apiKey,
    isRehearsal: (surface = 'current') =>
      addressOf(surface) === embeddedUrl || keyMode(keyOf(surface)) === 'test',
    sender: async (surface = 'current') => {
      await apiKey();
      const [{ fingerprint }, { macUnder }] = await Promise.all([
        import('../config/keys.ts'),
        import('../journal/mac.ts'),
      ]);
      const key = keyOf(surface);
      return { keyMasked: maskKey(key), account: fingerprint(key, addressOf(surface)), mac: macUnder(key) };
    },
  };
}

/**
 * Finds who signs records of an account: the account's own key if this machine has it, otherwise the key in use.
 * Undefined if there is neither.
 */
async function signerOf({ settings, folders, context }: Run, account: string): Promise<Signer | undefined> {
  const [{ paidAccount }, { machineMac }] = await Promise.all([
    import('../journal/journal-record.ts'),
    import('../journal/mac.ts'),
  ]);
  if (account === paidAccount) return { account, mac: machineMac(folders.state) };
  // Only this machine writes to a journal that is not shared, so do not run a key command just to sign records.
  if (settings.keyCommand && !settings.database) return undefined;
  try {
    const senders = [await context().sender(), await context().sender('legacy')];
    const own = senders.find((one) => one.account === account);
    const { account: by, mac } = own ?? ((await context().apiKey()) ? senders[0] : undefined) ?? {};
    return by !== undefined && mac ? { account: by, mac } : undefined;
  } catch (error) {
    // Continue without a signature. An unsigned record counts only once the service has been asked about it.
    if (error instanceof ErrandError) return undefined;
    throw error;
  }
}

/** The key that the profile's key command prints; undefined if there is no such command. */
async function printedKey(run: Run): Promise<Setting<string> | undefined> {
  const { keyCommand: command, profile } = run.settings;
  if (!command) return undefined;
  const { readKey, shownCommand } = await import('../config/key-command.ts');
  const name = shownCommand(command);
  const key =
    run.printedKeys.get(name) ??
    (await readKey({
      ...{ command, profile: profile.value, folder: run.folders.config, note: run.note },
      environment: withoutKeys(run.making.environment),
      signal: run.making.signal,
    }));
  run.printedKeys.set(name, key);
  return { value: key, from: 'command', name };
}

/** The members of the context that communicate with the user. */
function terminalMembers({
  making: { io, signal },
  settings,
  note,
  context,
}: Run): Pick<
  Context,
  'prompt' | 'progress' | 'confirm' | 'askText' | 'note' | 'log' | 'report' | 'readLines' | 'readInput'
> {
  return {
    prompt: () =>
      io.stderr.isAccessible === true ? import('./prompt/accessible.ts') : import('./prompt/index.ts'),
    progress: async (options) => (await import('./output/progress.ts')).createProgress(io, options),
    confirm: async (question) => (await context().prompt()).confirm(context(), question),
    askText: async (question) => (await context().prompt()).askText(context(), question),
    note,
    log: (lines) => deliverLines(lines, io),
    report: async (error) => {
      const { renderError } = await import('./output/error.ts');
      await renderError(error, io, context().output.format, { debug: settings.debug });
    },
    readLines: async () => {
      const { linesOf } = await import('../platform/streams.ts');
      return linesOf(await context().readInput(64 * 1024 * 1024));
    },
    readInput: async (limit) => {
      const { readAll } = await import('../platform/streams.ts');
      return readAll(io, limit, signal);
    },
  };
}

/**
 * Settings of the run. If the command diagnoses settings, errors in them are returned as a diagnosis instead of thrown.
 */
async function readSettings(
  { diagnoses, globals, environment, platform, repairsConfig }: Making,
  store: SettingsStore,
  folders: Folders,
): Promise<{ settings: Settings; diagnosis: Diagnosis | undefined }> {
  if (diagnoses) {
    const { diagnoseSettings } = await import('../config/diagnose.ts');
    return diagnoseSettings(globals, environment, store, folders, platform);
  }
  const settings = resolveSettings(globals, environment, storedFor(store, repairsConfig), folders);
  return { settings, diagnosis: undefined };
}

/** Stored settings; empty if they are broken and the command is about to rewrite them. */
function storedFor(store: SettingsStore, repairsConfig: boolean): Stored {
  try {
    return store.stored;
  } catch (error) {
    if (repairsConfig && error instanceof BrokenConfigError) return emptyStored;
    throw error;
  }
}
