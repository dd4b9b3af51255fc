import { hasHandles } from './cli/handles.ts';
import { styleOf } from './cli/help/layout.ts';
import type { CommandLine } from './cli/mount.ts';
import { mayDraw, writerOf } from './cli/output/writer.ts';
import { rootHelp } from './commands/root-help.ts';
import type { Display } from './config/display.ts';
import type { LastListRows, Result, TitleOf } from './format/result.ts';
import { ErrandError, type ErrorCategory, exitCodes } from './platform/errors.ts';
import { limitMemory } from './platform/memory.ts';
import { redactor } from './platform/redact/redactor.ts';
import { type Io, processIo } from './platform/streams.ts';
import { version } from './platform/version.ts';
import type { Context } from './run/context.ts';

/**
 * Runs one command line to completion. All errors are caught and shown here, each of them once.
 * @returns the exit code.
 */
export async function main(process: NodeJS.Process): Promise<number> {
  const argv = process.argv.slice(2);
  if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V'))
    return printText(process, `${version}\n`);
  redactor.reset();
  const io = processIo(process);
  const display = io.stdout.isTerminal || io.stderr.isTerminal ? await displayOf(process, io) : undefined;
  const streams = watchStreams(process, io);
  const { signal, stop } = watchSignals(process, io);
  const outputs = [io.stdout.stream, io.stderr.stream];
  for (const stream of outputs) writerOf(stream).endWith(signal);
  let code = await runLine(process, { io, display }, signal, argv);
  if (code === 0) code = await streams.outcome();
  stop();
  const { reason }: { reason: unknown } = signal;
  if (reason instanceof ErrandError) {
    // After an interrupt, do not wait for a slow reader or a silent server. If output remains unwritten, the program
    // has failed.
    const isUnread = outputs.some(({ writableLength }) => writableLength > 0);
    process.exit(code === 0 && isUnread ? reason.exitCode : code);
  }
  return code;
}

/**
 * Prints text that is not the result of a command.
 * @returns the exit code.
 */
export async function printText(process: NodeJS.Process, text: string | Uint8Array): Promise<number> {
  const io = processIo(process);
  const streams = watchStreams(process, io);
  io.stdout.stream.write(text);
  return streams.outcome();
}

/** Reads the preferences for output on this process's terminals, and configures the streams accordingly. */
async function displayOf(process: NodeJS.Process, io: Io): Promise<Display> {
  const { applyDisplay, readDisplay } = await import('./config/display.ts');
  const display = readDisplay(process.env, process.platform);
  applyDisplay(io, display);
  return display;
}

interface Shown {
  readonly io: Io;
  /** Undefined without a terminal. */
  readonly display: Display | undefined;
}

async function runLine(
  process: NodeJS.Process,
  { io, display }: Shown,
  signal: AbortSignal,
  argv: readonly string[],
): Promise<number> {
  let code = 0;
  try {
    if (asksForRootHelp(argv)) {
      const text = await rootHelp(await styleOf(io));
      if (display?.pager) await (await import('./cli/output/pager.ts')).writePaged(text, io, display.pager);
      else io.stdout.stream.write(text);
      return 0;
    }
    const { runProgram } = await import('./commands/program.ts');
    await runProgram(argv, {
      now: Date.now,
      version,
      io,
      pager: argv.includes('--no-pager') ? undefined : display?.pager,
      run: async (line) => {
        code = await runCommand(process, { io, display }, signal, line);
      },
    });
    return code;
  } catch (error) {
    return (await showFailure(process, io, failureOf(error, signal))).code;
  }
}

/** Detects the most common request for help. Rendering it takes less time than loading the command line parser. */
const asksForRootHelp = ([word = 'help', ...more]: readonly string[]): boolean =>
  more.length === 0 && ['help', '--help', '-h'].includes(word);

async function runCommand(
  process: NodeJS.Process,
  { io, display }: Shown,
  signal: AbortSignal,
  line: CommandLine,
): Promise<number> {
  const { command, globals } = line;
  let { input } = line;
  const { createContext } = await import('./cli/context.ts');
  limitMemory();
  const environment = { ...process.env };
  // Delete the variables that hold the password of a shared database, because Node's diagnostic reports include the
  // environment.
  delete process.env.ERRAND_DATABASE_URL;
  delete process.env.PGPASSWORD;
  const context = await createContext({
    argv: process.argv.slice(2),
    environment,
    platform: process.platform,
    pid: process.pid,
    io,
    signal,
    globals,
    version,
    repairsConfig: command.repairsConfig === true,
    defaultFormat: command.defaultFormat,
    diagnoses: command.diagnoses === true,
    needsKey: async () => (await import('./cli/needs-key.ts')).needsKey(command),
    commands: async () => (await import('./commands/program.ts')).printingCommands(),
    privateCommand: async () => (await import('./cli/private-command.ts')).privateCommand({ ...line, input }),
  });
  let result: Result | undefined;
  try {
    const { printResult } = await import('./cli/output/render.ts');
    const { fields } = context.output;
    const titles = async () => (await import('./orders/products/pick.ts')).knownTitles(context);
    const whole = await withWholeIds(context, line, titles);
    input = whole.input;
    const knownFields = fields && (await import('./cli/known-fields.ts')).knownFieldsOf(command, input);
    if (context.output.excel)
      (await import('./cli/check-excel.ts')).checkExcel(command, input, context.output);
    result = await command.run(whole.context, input);
    const code = await printResult(result, io, {
      ...context.output,
      pager: context.interactive.yes && globals.pager !== false ? display?.pager : undefined,
      asLines: display?.accessible === 'lines',
      knownFields,
      onListed: listKeeper(context),
      titles,
    });
    if (context.unreported().length > 0) {
      const { reportPrinted } = await import('./cli/report-printed.ts');
      await reportPrinted(context);
    }
    warnOfFolders(context);
    return code;
  } catch (error) {
    const { RequestPreview } = await import('./run/request-preview.ts');
    if (error instanceof RequestPreview) {
      io.stdout.stream.write(error.text);
      return error.exitCode;
    }
    const { withOutcome } = await import('./orders/outcome.ts');
    const record = result?.kind === 'record' ? result.record : undefined;
    const { isCutShort } = writerOf(io.stdout.stream);
    const run = { intents: context.unreported(), hasWritten: context.hasWritten(), record, isCutShort };
    // Print the warning before the error, because scripts take the last line to be the error.
    warnOfFolders(context, error);
    const failed = await showFailure(process, io, withOutcome(failureOf(error, signal), run));
    // If stdout was cut short, do not mark the results as reported. Running the command again then reports them.
    if (failed.isShown && run.intents.length > 0 && !isCutShort) {
      const { reportShown } = await import('./orders/report.ts');
      await reportShown(context);
    }
    return failed.code;
  } finally {
    await context.close();
  }
}

/** Warns that others may replace errand's folders. Does not warn if the command was refused for exactly that reason. */
function warnOfFolders({ looseFolders: loose, note }: Context, failure?: unknown): void {
  if (!loose || (failure instanceof ErrandError && failure.facts.code === 'folder_replaceable')) return;
  note(`warning: ${loose.message}. ${loose.remedy}`);
}

/** Expands abbreviated ids that were typed at a terminal. */
async function withWholeIds(
  context: Context,
  { command, input }: CommandLine,
  titles: () => Promise<TitleOf>,
) {
  if (!hasHandles(command, input)) return { context, input };
  const { resolveHandles } = await import('./cli/resolve-handles.ts');
  return resolveHandles(context, command, input, titles);
}

/**
 * Saves the list that was shown on a terminal, so that the next command can refer to its rows. If the list shows
 * products, also saves their titles.
 */
const listKeeper =
  (context: Context) =>
  async (list: LastListRows): Promise<void> => {
    const { profile, baseUrl } = context.settings;
    (await context.lastList())?.write({ ...list, profile: profile.value, service: baseUrl.value });
    if (list.kind !== 'products') return;
    const { saveTitles: keepTitles } = await import('./orders/products/pick.ts');
    await keepTitles(
      context,
      list.rows.map((row) => [row?.facts.url, row?.facts.title]),
    );
  };

/** After an interrupt, returns the interrupt instead of an error that the interrupt has caused. */
function failureOf(error: unknown, signal: AbortSignal): unknown {
  const reason: unknown = signal.reason;
  return signal.aborted && reason instanceof ErrandError && !(error instanceof ErrandError) ? reason : error;
}

async function showFailure(
  process: NodeJS.Process,
  io: Io,
  failure: unknown,
): Promise<{ readonly code: number; readonly isShown: boolean }> {
  const argv = process.argv.slice(2);
  const { renderError } = await import('./cli/output/error.ts');
  const debug = argv.includes('--debug') || Boolean(process.env.ERRAND_DEBUG);
  const isShown = await renderError(failure, io, requestedFormat(argv, process.env.ERRAND_OUTPUT), { debug });
  return { isShown, code: failure instanceof ErrandError ? failure.exitCode : exitCodes.unexpected };
}

/** Determines the output format for a failure. Works even if the command line cannot be parsed. */
function requestedFormat(argv: readonly string[], preset: string | undefined): 'json' | 'ndjson' | 'table' {
  const texts = argv.flatMap((word, index) => {
    if (word === '-o' || word === '--output') return [argv[index + 1]];
    if (word.startsWith('--output=')) return [word.slice('--output='.length)];
    return word.startsWith('-o') && !word.startsWith('--') ? [word.slice(2).replace(/^=/, '')] : [];
  });
  const text = texts.at(-1) ?? preset;
  return text === 'json' || text === 'ndjson' ? text : 'table';
}

/** If the terminal is closed (SIGHUP), the same cleanup is needed as after SIGTERM. */
const signals: Readonly<Record<'SIGINT' | 'SIGTERM' | 'SIGHUP' | 'SIGQUIT', ErrorCategory>> = {
  SIGINT: 'interrupted',
  SIGTERM: 'terminated',
  SIGHUP: 'terminated',
  SIGQUIT: 'terminated',
};

/**
 * The first signal aborts the run, so that anything in doubt is still reported. The second signal exits immediately.
 */
function watchSignals(process: NodeJS.Process, { stderr }: Io): { signal: AbortSignal; stop(): void } {
  const controller = new AbortController();
  const handlers = Object.entries(signals).map(([name, category]) => {
    const handle = (): void => {
      if (controller.signal.aborted) process.exit(exitCodes[category]);
      // Erase the ^C that the terminal has echoed on the current line, or leave that line.
      if (name === 'SIGINT' && stderr.isTerminal)
        stderr.stream.write(!stderr.isDumb && mayDraw() ? '\r\u001b[K' : '\n');
      controller.abort(new ErrandError(category, category === 'interrupted' ? 'interrupted' : 'terminated'));
    };
    process.on(name, handle);
    return { name, handle };
  });
  return {
    signal: controller.signal,
    stop: () => {
      for (const { name, handle } of handlers) process.off(name, handle);
    },
  };
}

/**
 * Handles errors of the output streams. If a reader closes the pipe (`| head`), that is not a failure. For any other
 * error of stdout, this handler only prevents a crash, because the code that writes a result reports the error. Help
 * and version have no such code, so for them this handler reports the error.
 */
function watchStreams(process: NodeJS.Process, io: Io): { outcome(): Promise<number> } {
  let failure: Error | undefined;
  io.stderr.stream.on('error', () => {});
  io.stdout.stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE' || error.code === 'ERR_STREAM_DESTROYED') return;
    failure = error;
    // Set the exit code here as well, because the error may come after the last line of the program has run.
    process.exitCode = exitCodes.unexpected;
  });
  return {
    async outcome() {
      // Wait for the next turn of the event loop, because a stream reports its error only then.
      await new Promise((resolve) => setImmediate(resolve));
      if (!failure) return 0;
      io.stderr.stream.write(`error: cannot write the output: ${failure.message}\n`);
      return exitCodes.unexpected;
    },
  };
}
