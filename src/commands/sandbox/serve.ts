import { resolve } from 'node:path';
import type { ServedRequest } from '../../api/control.ts';
import { defineCommand } from '../../cli/define.ts';
import { UsageError } from '../../platform/errors.ts';
import { isLoopback } from '../../platform/network/loopback.ts';
import { shellLine } from '../../platform/shell-word.ts';
import { stopwatch } from '../../platform/wait/deadline.ts';
import { reachOf, reachOptions } from './reach.ts';
import { faultList, rehearsalOptions } from './rehearsal-options.ts';
import { requestLines } from './request-lines.ts';
import { scenarioNamed, scenarioOption } from './scenario-file.ts';
import { firstLines, readyRecord } from './served-lines.ts';
import { walletCents } from './wallet-cents.ts';

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
    // What a scenario makes is not mixed with what is there.
    const memory = inMemory || (scenario !== undefined && data === undefined);
    if (!isLoopback(host) && !allowRemote) {
      throw new UsageError(`--host ${host} can be reached by other machines; the sandbox checks no caller`, {
        next: [
          {
            command: shellLine`errand sandbox serve --host ${host} --allow-remote`,
            when: 'if that is meant',
          },
        ],
      });
    }
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
      tell: context.note,
      onRequest,
      signal: context.signal,
      stateDir: context.settings.folders.state,
      ...(more.speed !== undefined && { speed: more.speed }),
      ...(more.latency !== undefined && { latencyMs: more.latency }),
      ...(more.seed !== undefined && { seed: more.seed }),
      ...(more.balance !== undefined && { startBalanceCents: walletCents('--balance', more.balance) }),
      ...(more.mintLimit !== undefined && { mintLimitPerDay: more.mintLimit }),
    });
    const ready = readyRecord(served, context.pid, scenario !== undefined);
    const { format } = context.output;
    const elapsedMs = stopwatch(context.clock);
    const where = { kept_in: memory ? null : resolve(data ?? context.settings.folders.state) };
    const kept = memory
      ? `nothing is kept${inMemory ? ' (--memory)' : ''}`
      : `its orders and keys are kept in ${data ?? "errand's state folder"}`;
    if (format === 'json') return { kind: 'stream', chunks: lines(`${JSON.stringify(ready)}\n`) };
    if (format === 'ndjson')
      return {
        kind: 'stream',
        chunks: lines(
          `${JSON.stringify({ type: 'ready', ...ready })}\n`,
          () => `${JSON.stringify({ type: 'summary', ...count, ...where, elapsed_ms: elapsedMs() })}\n`,
        ),
      };
    context.note('Ctrl-C ends it');
    if (fault.length === 0 && served.faults.length > 0)
      context.note(`faults are on in its data: ${served.faults.join(', ')}`);
    return {
      kind: 'stream',
      chunks: lines(firstLines(served)),
    };

    /** The first lines, then nothing until a signal ends the service; last what there is to say of it. */
    async function* lines(first: string, last?: () => string): AsyncGenerator<string> {
      try {
        yield first;
        await untilAborted(context.signal);
      } finally {
        await served.close();
      }
      if (last) yield last();
      if (format === 'table') context.note(`stopped serving; ${kept}`);
    }
  },
});

const untilAborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
