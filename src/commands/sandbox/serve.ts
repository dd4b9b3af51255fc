import { resolve } from 'node:path';
import type { ServedRequest } from '../../api/control.ts';
import type { Output } from '../../api/outputs/index.ts';
import { defineCommand } from '../../cli/define.ts';
import { writeErr } from '../../cli/output/notice.ts';
import { paintFor } from '../../cli/output/paint.ts';
import type { StreamResult } from '../../format/result.ts';
import { cut, cutMiddle, fullMeasure } from '../../format/width.ts';
import { stopwatch } from '../../platform/clock.ts';
import { UsageError } from '../../platform/errors.ts';
import { isLoopback } from '../../platform/net/lookup.ts';
import { parseUrl } from '../../platform/net/urls.ts';
import { safeText } from '../../platform/redact/safe-text.ts';
import { shellLine } from '../../platform/shell.ts';
import type { Context } from '../../run/context.ts';
import { faultList, rehearsalOptions, walletCents } from './rehearsal-options.ts';
import { scenarioNamed, scenarioOption } from './scenario-file.ts';

/** Options that set who may reach a served sandbox, and which addresses the sandbox may call. */
const reachOptions = {
  allowExternalWebhooks: {
    kind: 'flag',
    description: 'send webhooks to addresses that are not loopback',
  },
  allowWebhook: {
    kind: 'texts',
    placeholder: 'host[:port]',
    description: 'send webhooks to this receiver, wherever it is; may be repeated',
  },
  allowRemote: {
    kind: 'flag',
    description:
      'allow an address that other machines can reach; webhooks to this machine then need --allow-webhook',
  },
  allowHost: {
    kind: 'texts',
    placeholder: 'name[:port]',
    description: 'serve this name too (default: localhost, and the address itself); may be repeated',
  },
} as const;

interface ReachFlags {
  readonly allowRemote?: boolean | undefined;
  readonly allowHost?: readonly string[] | undefined;
  readonly allowWebhook?: readonly string[] | undefined;
  readonly allowExternalWebhooks?: boolean | undefined;
}

/**
 * Converts the flags to sandbox options. If remote machines can reach the sandbox, they must not be able to make it
 * call this machine.
 * @throws UsageError naming the flag.
 */
function reachOf({
  allowRemote = false,
  allowHost = [],
  allowWebhook = [],
  allowExternalWebhooks = false,
}: ReachFlags) {
  return {
    allowedHosts: allowHost.map((name) => hostName('--allow-host', name)),
    webhooks: {
      loopback: !allowRemote,
      external: allowExternalWebhooks,
      named: allowWebhook.map((name) => hostName('--allow-webhook', name)),
    },
  };
}

/** Normalizes a host as URLs write it. @throws UsageError naming the flag if invalid. */
function hostName(flag: string, given: string): string {
  const address = `http://${given}`;
  const url = parseUrl(address);
  if (url && url.host !== '' && url.href === `http://${url.host}/` && !/[/\\?#@]/.test(given))
    return url.host;
  throw new UsageError(`${flag} "${given}" is not a host; write NAME or NAME:PORT, such as api.test:4848`);
}

const methodWidth = 'DELETE'.length;
const gap = '  ';
/**
 * Minimum width of a target. With less room, targets could not be told apart, so a terminal omits other columns
 * instead.
 */
const minTargetWidth = 24;

/**
 * Prints one line on stderr for each request to the served sandbox: time, status, time to the first byte, method,
 * target (cut in the middle), and its effect or why it was refused. Prints only on a TTY, because a test that runs the
 * sandbox treats output on stderr as a failure.
 */
export async function requestLines({
  io,
}: Pick<Context, 'io'>): Promise<((request: ServedRequest) => void) | undefined> {
  if (!io.stderr.isTerminal) return undefined;
  const paint = await paintFor(io.stderr.color);
  const measure = await fullMeasure();
  return ({ at, method, target, status, tookMs, fault, did }) => {
    const shown = status === null ? 'cut' : String(status);
    const paintStatus =
      status === null || status >= 500 ? paint.bad : status >= 400 ? paint.waiting : paint.good;
    const time = `${new Date(at).toISOString().slice(11, 19)}Z`;
    const duration = `${Math.round(tookMs)} ms`.padStart('1000 ms'.length);
    const paintNote = fault === null ? paint.faint : paint.waiting;
    const verb = safeText(method).padEnd(methodWidth);
    const actionSummary = did === null ? '' : `${gap}${safeText(did)}`;
    const why = `${actionSummary}${fault === null ? '' : `${gap}(fault ${safeText(fault)})`}`;
    const columns = io.stderr.columns() || 80;
    const widthLeft = (...parts: readonly string[]): number => columns - parts.join(gap).length - gap.length;
    const minWidth = measure(why) + Math.min(minTargetWidth, measure(safeText(target)));
    const hasTime = widthLeft(time, shown, duration, verb) >= minWidth;
    const hasDuration = widthLeft(shown, duration, verb) >= minWidth;
    const before = [...(hasTime ? [time] : []), shown, ...(hasDuration ? [duration] : []), verb];
    const room = Math.max(1, widthLeft(...before));
    const path = cutMiddle(
      safeText(target),
      Math.max(Math.min(minTargetWidth / 2, room), room - measure(why)),
      measure,
    );
    const parts = [
      ...(hasTime ? [paint.faint(time)] : []),
      paintStatus(shown),
      ...(hasDuration ? [duration] : []),
      verb,
      path + paintNote(cut(why, Math.max(0, room - measure(path)), measure)),
    ];
    writeErr(io, `${parts.join(gap)}\n`);
  };
}

type Served = Awaited<ReturnType<typeof import('../../sandbox-door.ts').serveSandbox>>;

/** The first record on stdout, which tells a script that the sandbox is ready. */
const readyRecord = (
  { baseUrl, legacyBaseUrl, shopUrl, keys }: Served,
  pid: number,
  hasScenario: boolean,
): Output<'ServedSandbox'> => ({
  base_url: baseUrl,
  legacy_base_url: legacyBaseUrl,
  shop_url: shopUrl,
  pid,
  ...(hasScenario && { keys: keys.map(({ name, apiKey }) => ({ name, api_key: apiKey })) }),
});

/**
 * Formats the first record as text for people. Shows the address, and either the scenario's keys or how to get a key.
 */
const firstLines = ({ baseUrl, shopUrl, consoleUrl, keys }: Served): string => {
  const minting = `curl -sX POST ${baseUrl}/sandbox/keys`;
  const shown = keys.length > 0 ? keys.map(({ name, apiKey }) => `${apiKey}  ${name}`) : [minting];
  return `serving on ${baseUrl}\n  console  ${consoleUrl}\n  shop     ${shopUrl}\n${shown.map((key) => `  key      ${key}\n`).join('')}`;
};

export const serve = defineCommand({
  name: 'serve',
  summary: 'Serve the sandbox over HTTP, for any client in any language',
  description:
    'Its address in a browser is a console: orders as they go, webhook deliveries, requests. A terminal shows each request as a line, with what it did; -o ndjson ends with a summary. Shares its data with the embedded sandbox unless --memory or --data says otherwise. Ctrl-C ends it.',
  lists: [faultList],
  options: {
    host: { kind: 'text', description: 'address to listen on (default 127.0.0.1)' },
    port: { kind: 'integer', min: 0, max: 65_535, description: 'port; 0 picks a free one (default 4848)' },
    data: { kind: 'text', placeholder: 'file', completes: 'files', description: 'file to keep the data in' },
    memory: { kind: 'flag', description: 'keep nothing when it ends' },
    scenario: scenarioOption,
    speed: rehearsalOptions.speed,
    latency: { kind: 'duration', description: 'wait before each response' },
    seed: rehearsalOptions.seed,
    fault: rehearsalOptions.fault,
    balance: { kind: 'money', description: 'what the wallet of each new key holds (default $1,000)' },
    payments: {
      kind: 'choice',
      values: ['mpp', 'x402', 'both'],
      description: 'how the agent route asks for payment (default mpp)',
    },
    mintLimit: { kind: 'integer', min: 1, description: 'keys a day for each address' },
    ...reachOptions,
  },
  examples: [
    { command: 'errand sandbox serve', note: 'on http://127.0.0.1:4848' },
    { command: 'errand sandbox serve --port 0 --memory -o json', note: 'for a test: one line with base_url' },
    {
      command: "errand sandbox serve --fault 'reset-after:20%@POST /orders' --fault 429=5s:10% --seed 7",
      note: 'rehearse a bad network, the same each time',
    },
    {
      command: "errand sandbox serve --fault normalise --fault 'html:504-after:10%@POST /orders' --seed 7",
      note: 'a service that spells fields its own way, behind a gateway that gives up',
    },
  ],
  output: [{ record: 'ServedSandbox' }, { events: 'ServeEvent' }],
  exitCodes: { 0: 'Ctrl-C or SIGTERM ended it: a server that was told to stop' },
  related: ['sandbox mint', 'profile set'],
  async run(
    context,
    {
      host = '127.0.0.1',
      port = 4848,
      data,
      memory: inMemory = false,
      allowRemote = false,
      fault = [],
      scenario: file,
      ...more
    },
  ) {
    if (inMemory && data !== undefined) throw new UsageError('--memory and --data exclude each other');
    const scenario = await scenarioNamed(context, file, more.seed);
    // Store the scenario's data apart from any existing data.
    const memory = inMemory || (scenario !== undefined && data === undefined);
    checkReachable(host, allowRemote);
    const { serveSandbox } = await import('../../sandbox-door.ts');
    const shows = await requestLines(context);
    const count = { requests: 0, errors: 0 };
    const onRequest = (request: ServedRequest): void => {
      count.requests += 1;
      if (request.status === null || request.status >= 400) count.errors += 1;
      shows?.(request);
    };
    const served = await serveSandbox({
      host,
      port,
      ...(data !== undefined && { data: resolve(data) }),
      memory,
      faults: fault,
      scenario,
      ...reachOf({ allowRemote, ...more }),
      warn: context.note,
      onRequest,
      signal: context.signal,
      stateDir: context.settings.folders.state,
      ...(more.speed !== undefined && { speed: more.speed }),
      ...(more.latency !== undefined && { latencyMs: more.latency }),
      ...(more.seed !== undefined && { seed: more.seed }),
      ...(more.balance !== undefined && { startBalanceCents: walletCents('--balance', more.balance) }),
      ...(more.payments !== undefined && { paymentSchemes: schemesOf[more.payments] }),
      ...(more.mintLimit !== undefined && { mintLimitPerDay: more.mintLimit }),
    });
    const ready = readyRecord(served, context.pid, scenario !== undefined);
    const { format } = context.output;
    const storageNote = memory
      ? `nothing is kept${inMemory ? ' (--memory)' : ''}`
      : `its orders and keys are kept in ${data ?? "errand's state folder"}`;
    const lines = (first: string, last?: () => string): StreamResult => ({
      kind: 'stream',
      chunks: whileServed(context, served, { first, last, storageNote }),
    });
    if (format === 'json') return lines(`${JSON.stringify(ready)}\n`);
    if (format === 'ndjson') {
      const elapsedMs = stopwatch(context.clock);
      const where = { kept_in: memory ? null : resolve(data ?? context.settings.folders.state) };
      return lines(
        `${JSON.stringify({ type: 'ready', ...ready })}\n`,
        () => `${JSON.stringify({ type: 'summary', ...count, ...where, elapsed_ms: elapsedMs() })}\n`,
      );
    }
    context.note('Ctrl-C ends it');
    if (fault.length === 0 && served.faults.length > 0)
      context.note(`faults are on in its data: ${served.faults.join(', ')}`);
    return lines(firstLines(served));
  },
});

const schemesOf = { mpp: ['mpp'], x402: ['x402'], both: ['mpp', 'x402'] } as const;

/** @throws UsageError if other machines could reach the sandbox without the user having allowed that. */
function checkReachable(host: string, allowRemote: boolean): void {
  if (isLoopback(host) || allowRemote) return;
  throw new UsageError(`--host ${host} can be reached by other machines; the sandbox checks no caller`, {
    next: [
      { command: shellLine`errand sandbox serve --host ${host} --allow-remote`, when: 'if that is meant' },
    ],
  });
}

interface ServedLines {
  readonly first: string;
  /** Builds the line to print once the service has stopped. */
  readonly last?: (() => string) | undefined;
  readonly storageNote: string;
}

/** Prints the first lines, waits for a signal to stop the service, then prints the closing line. */
async function* whileServed(
  context: Context,
  served: { close(): Promise<void> },
  { first, last, storageNote }: ServedLines,
): AsyncGenerator<string> {
  try {
    yield first;
    await untilAborted(context.signal);
  } finally {
    await served.close();
  }
  if (last) yield last();
  if (context.output.format === 'table') context.note(`stopped serving; ${storageNote}`);
}

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
