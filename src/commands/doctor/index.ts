import { defineRootCommand } from '../../cli/define.ts';
import { embeddedUrl } from '../../config/stored.ts';
import type { Column } from '../../format/result.ts';
import { stopwatch } from '../../platform/clock.ts';
import { ErrandError, exitCodes } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { type Check, type Ground, type Probe, problemOf } from './check.ts';
import { database, journal } from './checks/journal.ts';
import {
  completion,
  configuration,
  permissions,
  policy,
  program,
  settings,
  terminal,
} from './checks/machine.ts';
import { clock, contract, key, proxy, service, tls } from './checks/service.ts';

/** The checks, ordered so that an earlier check can explain the findings of a later one. */
const checks: readonly Check[] = [
  program,
  configuration,
  permissions,
  settings,
  tls,
  proxy,
  service,
  clock,
  contract,
  key,
  database,
  journal,
  policy,
  completion,
  terminal,
];

/** Rows are printed as they arrive, and the widest row may come last. Therefore each column reserves a width. */
const columns: readonly Column[] = [
  { name: 'check', path: 'check', weight: 9, room: 'configuration'.length },
  { name: 'status', path: 'status', kind: 'status', weight: 8, room: '✖ trouble'.length },
  { name: 'finding', path: 'message', weight: 7, room: 500, isProse: true },
];

export const command = defineRootCommand({
  description: `Configuration, permissions, settings, TLS, proxy, service, clock, contract, key, shared database, orders in doubt, policy, completion scripts and terminal. Every check runs, whatever the others find. It changes nothing at the service.`,
  examples: [
    { command: 'errand doctor', note: 'is all well?' },
    {
      command: 'errand doctor -o json --query "[?status==\'trouble\'].remedy"',
      note: 'what to do, for a script',
    },
    { command: 'errand doctor --base-url embedded: -o ndjson', note: 'with another service' },
  ],
  output: { list: 'DoctorFinding' },
  exitCodes: { 7: 'something is wrong' },
  readsOnly: true,
  related: ['auth status', 'order journal list', 'schema diff', 'completion'],
  diagnoses: true,
  async run(context) {
    const remedies: string[] = [];
    return {
      kind: 'list',
      rows: examine(context, remedies),
      columns,
      id: 'check',
      hints: () => remedies,
      exitCode: () => (remedies.length > 0 ? exitCodes.ended_badly : 0),
    };
  },
});

/** Yields each finding as soon as it is known. For each finding of trouble, adds a line to `remedies`. */
async function* examine(context: Context, remedies: string[]) {
  let probed: Promise<Probe> | undefined;
  const ground: Ground = {
    context,
    probe: () => {
      probed ??= probe(context);
      return probed;
    },
  };
  for (const check of checks) {
    for (const { status, message, remedy } of await findings(check, ground)) {
      if (context.signal.aborted) throw context.signal.reason;
      if (status === 'trouble') remedies.push(`${check.name}: ${remedy ?? message}`);
      yield { check: check.name, status, message, remedy: remedy ?? null };
    }
  }
}

async function findings(check: Check, ground: Ground) {
  try {
    return [await check.run(ground)].flat();
  } catch (error) {
    return [problemOf(error)];
  }
}

/** Requests the service's description once. Any response, even an error, proves that the service is reachable. */
async function probe(context: Context): Promise<Probe> {
  const elapsedMs = stopwatch(context.clock);
  const reached = (date: string | undefined, version: string | undefined): Probe => {
    return { reached: true, durationMs: elapsedMs(), at: context.clock.now(), date, version };
  };
  try {
    const client = await context.client();
    const { headers, body } = await client.call('openapi.get', {});
    const { date } = headers;
    const version: unknown = Object(Object(body).info).version;
    const isEmbedded = context.settings.baseUrl.value === embeddedUrl;
    return reached(
      typeof date === 'string' && !isEmbedded ? date : undefined,
      typeof version === 'string' ? version : undefined,
    );
  } catch (error) {
    if (!(error instanceof ErrandError)) throw error;
    const { status, hint, next } = error.facts;
    if (status !== undefined && status < 500) return reached(undefined, undefined);
    return { reached: false, message: error.message, remedy: hint ?? next?.[0]?.command };
  }
}
