import { createServer } from 'node:http';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { failedOrderStatuses } from '../../src/api/enums.ts';
import { loadSqlite } from '../../src/platform/sqlite/load.ts';
import type { TeamDatabase } from '../support/postgres.ts';
import { errand, type Finished } from '../support/run.ts';
import type { Workspace } from '../support/workspace.ts';
import {
  type ChainLine,
  chainOf,
  chainOfTeam,
  type IntentLine,
  intentsOf,
  intentsOfTeam,
} from './fixture.ts';
import { approvedProduct, callTool, type Made, shop } from './made.ts';

/** A state that one build made and another goes on with. */
export interface State {
  readonly workspace: Workspace;
  readonly made: Made;
  /** The intents as they were left. */
  readonly written: readonly IntentLine[];
  /** The same as the journal has them now. */
  intents(): Promise<readonly IntentLine[]>;
  /** The audit chain as it is now. */
  chain(): Promise<readonly ChainLine[]>;
}

/** @param written what is there now, where nobody has written it down. */
export const machineState = (
  workspace: Workspace,
  made: Made,
  written: readonly IntentLine[] = intentsOf(workspace),
): State => ({
  ...{ workspace, made, written },
  intents: async () => intentsOf(workspace),
  chain: async () => chainOf(workspace),
});

/** The same of a machine of a team. */
export const teamState = async (
  workspace: Workspace,
  database: TeamDatabase,
  made: Made,
  written?: readonly IntentLine[],
): Promise<State> => ({
  ...{ workspace, made, written: written ?? (await intentsOfTeam(database)) },
  intents: () => intentsOfTeam(database),
  chain: () => chainOfTeam(database),
});

/** What only reads, and ends with 0 on a state of everything. */
export const reads: readonly (readonly string[])[] = [
  ['order', 'journal', 'list', '--all'],
  ['order', 'list', '--limit', '100'],
  ['return', 'list'],
  ['bulk', 'list'],
  ['bulk', 'uploads'],
  ['bulk', 'get', 'done'],
  ['bulk', 'results', 'done'],
  ['bulk', 'report', 'done'],
  ['bulk', 'show', 'december.plan'],
  ['bulk', 'maps'],
  ['approval', 'list'],
  ['policy', 'show'],
  ['policy', 'usage'],
  ['spend'],
  ['audit', 'log', '--last', '500'],
  ['audit', 'head'],
  ['audit', 'verify'],
  ['webhook', 'events'],
  ['account', 'list'],
  ['address', 'list'],
  ['auth', 'list'],
  ['profile', 'list'],
  ['config', 'list'],
  ['wallet'],
  ['sandbox', 'snapshot'],
];

/** The states of intents by the names that they were made under; what the plan, uploads and events are of is told by other commands. */
const states: Readonly<Record<string, string>> = {
  first: 'reported',
  reported: 'reported',
  chosen: 'reported',
  settled: 'reported',
  failed: 'reported',
  cancelled: 'reported',
  refused: 'refused',
  'in doubt, placed': 'intended',
  'in doubt, not placed': 'intended',
  forgotten: 'forgotten',
  untold: 'responded',
  returned: 'refused',
  used: 'reported',
  overridden: 'reported',
  'quote in doubt': 'intended',
  paid: 'reported',
  'paid in doubt': 'intended',
  return: 'reported',
  'return in doubt': 'intended',
  lost: 'intended',
};
const inDoubt = Object.keys(states).filter((name) => states[name] === 'intended');

/** The ceilings of what the service has in the end, in order. Each of the generator's orders has its own. */
const ceilings = [
  ...[1000, 2000, 2100, 2100, 2200, 2350, 2400, 2500, 2600, 2700, 2800, 2900, 3000, 3100, 3200, 3300],
  // Two plans of the same file, one with a --run of its own. A part of that was applied before the other plan.
  ...[3400, 3500, 3500, 3600, 3600],
  ...[5000, 5100, 5200, 5300, 5400, 5600, 5700, 5800, 5900, 6100, 6200, 6300, 6400, 6500, 6600, 6700, 6800],
  ...[6900, 30300, 30400, 60600],
];

/** Ceilings of what was in doubt and had not reached the service, and of the open quote. */
const unsent = [5800, 6100];

/**
 * A build goes on with all that a state holds, in the order of its tests.
 * @param extra ceilings of what is there besides.
 * @param isSent whether what is in doubt is sent again. This build sends nothing that an earlier one recorded, since that
 * did not sign it.
 */
export function describeResumed(
  title: string,
  begin: () => Promise<State>,
  { extra = [], isSent = false }: { readonly extra?: readonly number[]; readonly isSent?: boolean } = {},
): void {
  describe.sequential(title, () => {
    let state: State;
    let chain: readonly ChainLine[];
    beforeAll(async () => {
      state = await begin();
      chain = await state.chain();
    });

    const run = (...args: readonly string[]): Promise<Finished> => errand(state.workspace, args);
    const read = async (...args: readonly string[]) => {
      const { code, stdout, stderr } = await run(...args, '-o', 'json');
      expect(code, `${args.join(' ')}: ${stderr}`).toBe(0);
      return JSON.parse(stdout);
    };
    const records = (): Promise<
      { key: string; state: string; order_id: string | null; operation: string }[]
    > => read('order', 'journal', 'list', '--all');
    const at = (name: string): string => state.made[name] ?? expect.fail(`no ${name} was made`);

    test('every list and report reads it', async () => {
      for (const args of reads) {
        const { code, stderr } = await run(...args);
        expect(code, `errand ${args.join(' ')}: ${stderr}`).toBe(0);
      }
    });

    test('each intent is in the state that it was left in, and no record is damaged', async () => {
      expect(await state.intents()).toEqual(state.written);
      const found = new Map((await records()).map((record) => [record.key, record.state]));
      const named = Object.keys(states).map((name) => [name, found.get(at(`${name}.key`))]);
      expect(Object.fromEntries(named)).toEqual(states);
      expect([...new Set(found.values())].sort()).toEqual([
        'forgotten',
        'intended',
        'refused',
        'reported',
        'responded',
      ]);
    });

    test('the same order again settles the one in doubt', async () => {
      const again = await read('order', 'create', ...flags('$56'));
      expect([again.id]).toEqual(ordered(state, at('in doubt, placed.key')));
      expect(await stateOf('in doubt, placed')).toBe('reported');
    });

    test.runIf(isSent)(
      'what is like an order in doubt is not ordered before that one is settled',
      async () => {
        const { code, stderr } = await run('order', 'create', ...flags('$50'));
        expect([code, stderr]).toEqual([5, expect.stringContaining('(duplicate_in_doubt)')]);
      },
    );

    test.runIf(!isSent)('what is in doubt is looked for and not sent; then it is given up', async () => {
      const resumed = await run('order', 'journal', 'resume', '--all');
      expect(resumed.code, resumed.stderr).toBe(5);
      // The batches of an upload are settled by its file.
      const keys = inDoubt
        .filter((name) => name !== 'in doubt, placed' && name !== 'lost')
        .map((name) => at(`${name}.key`));
      for (const name of inDoubt.filter((one) => one !== 'in doubt, placed')) {
        expect([name, await stateOf(name)]).toEqual([name, 'intended']);
        expect(resumed.stderr).toContain(`${at(`${name}.key`)} is not signed`);
      }
      expect((await run('order', 'journal', 'forget', ...keys)).code).toBe(0);
    });

    test.runIf(isSent)('a resume settles all that is in doubt, with the keys that it has', async () => {
      const { code, stderr } = await run('order', 'journal', 'resume', '--all');
      expect(code, stderr).toBe(0);
      for (const name of inDoubt) expect([name, await stateOf(name)]).toEqual([name, 'reported']);
      for (const name of ['in doubt, not placed', 'quote in doubt', 'paid in doubt'])
        expect([name, ordered(state, at(`${name}.key`))]).toEqual([name, [expect.any(String)]]);
      expect(await stateOf('forgotten')).toBe('forgotten');
      expect(await read('order', 'journal', 'list')).toEqual([]);
    });

    test('an upload that was cut short goes on, and is whole once it is uploaded again', async () => {
      const resumed = await run('bulk', 'resume', 'december', '-o', 'json');
      expect(resumed.code, resumed.stderr).toBe(0);
      const again = await run('bulk', 'upload', 'part.csv', '--batch-size', '1', '-o', 'json');
      expect(again.code, again.stderr).toBe(0);
      const uploads: { name: string; state: string; rows: number; sent: number }[] = await read(
        'bulk',
        'uploads',
      );
      for (const name of ['done', 'mapped', 'lost', 'december'])
        expect(uploads.find((one) => one.name === name)).toMatchObject({
          state: name === 'lost' && !isSent ? 'in doubt' : 'sent',
        });
    });

    test('the failed rows of an upload are tried again', async () => {
      const { code, stderr } = await run('bulk', 'retry', 'done', '-o', 'json');
      expect(code, stderr).toBe(0);
    });

    test('plans are applied, and once; a row that is like one that was placed since is not sent', async () => {
      for (const [plan, code] of [
        ['december.plan', 5],
        ['begun.plan', 0],
      ] as const) {
        const applied = await run('bulk', 'apply', plan, '-o', 'json');
        expect([plan, applied.code], applied.stderr).toEqual([plan, code]);
        if (code === 5) expect(applied.stderr).toMatch(/1 row is like an earlier order: .*row 2 as order/);
        const again = await run('bulk', 'apply', plan, '-o', 'json');
        expect([plan, again.code], again.stderr).toEqual([plan, code]);
        if (code === 0) expect(existing(again)).not.toContain(false);
      }
    });

    test('what was approved is ordered, once; what was not is not', async () => {
      const order = await read('order', 'create', ...flags('$303', approvedProduct), '--new');
      expect(order.max_price).toBe(30300);
      for (const price of ['$301', '$302', '$304']) {
        const asked = await run('order', 'create', ...flags(price, approvedProduct), '--new');
        expect([price, asked.code]).toEqual([price, 11]);
      }
      const byFile = await run(
        'order',
        'create',
        ...flags('$303', approvedProduct),
        '--new',
        '--approval',
        'approval.json',
      );
      expect(byFile.code, byFile.stderr).toBe(11);
    });

    test.runIf(!isSent)('an open quote is to be made anew', async () => {
      expect(await callTool(state.workspace, 'order_place', { quote: at('quote open') })).toEqual({});
    });

    test.runIf(isSent)('an open quote is placed once', async () => {
      const [first, second] = [
        await callTool(state.workspace, 'order_place', { quote: at('quote open') }),
        await callTool(state.workspace, 'order_place', { quote: at('quote open') }),
      ];
      expect(first.order.max_price).toBe(6100);
      expect(second.order.id).toBe(first.order.id);
      const placed = await callTool(state.workspace, 'order_place', { quote: at('quote placed') });
      expect(placed.order.id).toBe(at('quote placed.id'));
    });

    test('the key of an order that was paid for without an account reads it', async () => {
      expect((await read('order', 'get', at('paid.id'))).id).toBe(at('paid.id'));
      expect((await read('agent', 'order', 'receipt', at('paid.id'))).amount).toBe('6500');
    });

    test('events that were not sent on are sent on', async () => {
      const failed: { id: number; order_id: string }[] = await read('webhook', 'events', '--failed');
      expect(failed.map(({ order_id: id }) => id)).toContain(at('heard, not sent on.id'));
      const got: string[] = [];
      const server = createServer((request, response) => {
        got.push(String(request.headers['x-webhook-event']));
        response.end('{}');
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const url = `http://127.0.0.1:${Object(server.address()).port}`;
      const replayed = await run('webhook', 'replay', ...failed.map(({ id }) => String(id)), '--to', url);
      server.close();
      expect(replayed.code, replayed.stderr).toBe(0);
      expect(got).toHaveLength(failed.length);
    });

    test('nothing was ordered twice, and every intent is for what it was', async () => {
      const expected = [...ceilings, ...extra]
        .filter((cents) => isSent || !unsent.includes(cents))
        .sort((one, other) => one - other);
      const orders = ordersAt(state);
      expect(new Set(orders.map(({ cents }) => cents))).toEqual(new Set(expected));
      // Rows that failed are tried again, as the next attempt.
      const live = orders.filter(({ status }) => !failedOrderStatuses.some((failed) => failed === status));
      for (const cents of new Set(expected)) {
        const count = live.filter((one) => one.cents === cents).length;
        expect([cents, count <= expected.filter((one) => one === cents).length]).toEqual([cents, true]);
      }
      const after = new Map((await state.intents()).map((intent) => [intent.key, intent]));
      expect(state.written.map(({ key }) => after.get(key))).toEqual(state.written);
      expect((await read('audit', 'verify')).intact).toBe(true);
      const records = await state.chain();
      expect(records.slice(0, chain.length)).toEqual(chain);
      // A policy that is published again is signed, which its record says.
      const alike = records.filter(({ kind }, at) => at < chain.length || kind !== 'policy_published');
      const [forms, known] = [formsOf(alike), formsOf(chain)];
      expect(Object.fromEntries(Object.keys(known).map((kind) => [kind, forms[kind]]))).toEqual(known);
    });

    async function stateOf(name: string): Promise<string | undefined> {
      return (await records()).find(({ key }) => key === at(`${name}.key`))?.state;
    }
  });
}

/** Fields of signatures, and of what they prove, which an earlier build does not write. */
const signing: readonly string[] = ['mac', 'account', 'database', 'ends', 'reserved'];

/** The fields of what the records of each kind say, but for those of signatures. */
const formsOf = (chain: readonly ChainLine[]): Record<string, string> => {
  const forms: Record<string, Set<string>> = {};
  for (const { kind, detail } of chain) {
    const fields = Object.keys(JSON.parse(detail))
      .filter((name) => !signing.includes(name))
      .sort()
      .join();
    forms[kind] = (forms[kind] ?? new Set()).add(fields);
  }
  return Object.fromEntries(
    Object.entries(forms).map(([kind, found]) => [kind, [...found].sort().join(' or ')]),
  );
};

/** Whether each batch that a command names was there before. */
const existing = ({ stdout }: Finished): boolean[] => {
  const batches: { existed: boolean }[] = JSON.parse(stdout);
  return batches.map(({ existed }) => existed);
};

const flags = (price: string, slug = 'test-success'): string[] => [
  ...['--product', `${shop}/${slug}`, '--max-price', price, '--ship-to', 'home'],
];

/** What the machine's own sandbox holds, whatever the program says of it. */
function inSandbox<T>({ workspace: { folder } }: State, sql: string, ...values: string[]): T[] {
  const store = new (loadSqlite())(join(folder, '.state/sandbox.db'), { readOnly: true });
  try {
    return store.prepare(sql).all(...values) as unknown as T[];
  } finally {
    store.close();
  }
}

/** The ids of the orders of a key. */
const ordered = (state: State, key: string): string[] =>
  inSandbox<{ id: string }>(state, 'SELECT id FROM orders WHERE idempotency_key = ?', key).map(
    ({ id }) => id,
  );

const ordersAt = (state: State): { readonly cents: number; readonly status: string }[] =>
  inSandbox(
    state,
    "SELECT json_extract(record, '$.max_price') AS cents, json_extract(record, '$.status') AS status FROM orders ORDER BY 1",
  );
