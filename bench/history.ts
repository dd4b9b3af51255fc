import { join } from 'node:path';
import type { AuditRecord } from '../src/journal/audit-entry.ts';
import { hashedRecord, recordOfRow, rowValues } from '../src/journal/audit-record.ts';
import { Journal, openJournalDatabase } from '../src/journal/journal.ts';
import { writeReservationSum } from '../src/journal/journal-facts.ts';
import { type Reservation, rowOf } from '../src/journal/reservation-row.ts';
import type { Database } from '../src/platform/sqlite/database.ts';
import { program, run } from './program.ts';
import { atMost, median, type Row, timeBeside } from './table.ts';

const many = 1_000_000;
const service = 'https://service.example';

/** What an order, a TAB and other commands cost beside a long history, and `audit verify` of it. */
export async function measure(folder: string): Promise<Row[]> {
  const [few, all] = [join(folder, 'few'), join(folder, 'all')];
  for (const place of [few, all]) {
    const [product = ''] = (await errandIn(place, 'sandbox', 'products', '-o', 'id')).stdout.split('\n');
    await errandIn(place, ...order(product));
  }
  await fillJournal(join(all, 'state'));
  const [product = ''] = (await errandIn(few, 'sandbox', 'products', '-o', 'id')).stdout.split('\n');
  const rows: Row[] = [];
  for (const [name, args] of [
    ['order create', [...order(product), '--new']],
    ['a TAB: order get', ['__complete', '--', 'order', 'get', '']],
    ['order journal list', ['order', 'journal', 'list']],
  ] as const) {
    const times: Record<string, number[]> = { few: [], all: [] };
    for (let round = 0; round < 7; round += 1)
      for (const place of ['few', 'all'])
        times[place]?.push((await errandIn(join(folder, place), ...args)).cpuMs);
    const [ms, other] = [median(times.all ?? []), median(times.few ?? [])];
    const what = `${name}, 1,000,000 journal records: processor time`;
    rows.push(timeBeside(what, ms, { name: 'that of an empty journal', ms: other }, 1.1));
  }
  const verified = await errandIn(all, 'audit', 'verify');
  rows.push(atMost('audit verify, 1,000,000 entries: processor time', verified.cpuMs / 1000, 10, 's'));
  rows.push(atMost('its peak memory', verified.peak / 2 ** 20, 200, 'MB'));
  const [none, reserved] = [
    await underPolicy(join(folder, 'none'), 0),
    await underPolicy(join(folder, 'held'), many),
  ];
  rows.push(
    atMost('an order under a policy, 1,000,000 reservations: more than with none', reserved - none, 5, 'ms'),
  );
  return rows;
}

const errandIn = (place: string, ...args: string[]) =>
  run([program, ...args], {
    folder: place,
    env: {
      // A TAB offers what the journal knows of a service that is none of the sandbox.
      ...(args[0] === '__complete' && { ERRAND_BASE_URL: service, ERRAND_API_KEY: 'sk_test_bench' }),
      ERRAND_CONFIG_DIR: join(place, 'config'),
      ERRAND_STATE_DIR: join(place, 'state'),
      ERRAND_NO_INPUT: '1',
    },
  });

const order = (product: string): string[] => [
  ...['order', 'create', '--product', product, '--max-price', '$50', '--ship-to', 'home'],
];

/** Adds records that ended, and entries of a whole chain, like those that are there. */
async function fillJournal(folder: string): Promise<void> {
  await inDatabase(folder, (database) => {
    const columns = database.all('PRAGMA table_info(intents)').map(({ name }) => String(name));
    const values: Readonly<Record<string, string>> = {
      key: "printf('%08x-%d', (i * 2654435761) % 4294967296, i)",
      ...{ base_url: `'${service}'`, state: "'reported'", live: '0' },
      order_id: "printf('%08x-0000-4000-8000-%012x', (i * 2246822519) % 4294967296, i)",
    };
    database.run(
      `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${many})
       INSERT INTO intents (${columns.join(', ')})
       SELECT ${columns.map((name) => values[name] ?? `one.${name}`).join(', ')} FROM n, (SELECT * FROM intents LIMIT 1) AS one`,
    );
    const last = database.get('SELECT * FROM audit ORDER BY number DESC LIMIT 1') ?? {};
    let previous = String(last.hash);
    const { hash: _, ...facts } = recordOfRow(last);
    const columnsOfAudit = Object.keys(last).join(', ');
    const sql = `INSERT INTO audit (${columnsOfAudit}) VALUES (${Object.keys(last)
      .map(() => '?')
      .join(', ')})`;
    for (let at = 1; at < many; at += 1) {
      // The entry is one that the journal has written itself.
      const entry = { ...facts, number: Number(last.number) + at, key: `key-${at}`, previous } as Omit<
        AuditRecord,
        'hash'
      >;
      const record = hashedRecord(entry);
      previous = record.hash;
      database.run(sql, ...rowValues(record));
    }
  });
}

/** @returns what an order takes under a policy with two limits and a rule about duplicates, ms. */
async function underPolicy(folder: string, count: number): Promise<number> {
  const now = Date.UTC(2026, 2, 20, 12);
  const facts = { retailers: ['shop.example'], metadata: [], products: ['p'], recipient: 'r' };
  const order = { baseUrl: service, account: 'bench', cents: 5000, feeCents: 100, isRehearsal: false };
  const journal = await Journal.open(folder, () => now);
  await inDatabase(folder, (database) => {
    let times = 0n;
    for (let at = 0; at < count; at += 1) {
      const reservation: Reservation = {
        ...order,
        ...{
          key: `held-${at}`,
          state: 'settled',
          at: now - 1000 - at,
          counted: 5000,
          orderId: `order-${at}`,
        },
        ...{ intents: [`held-${at}`], pid: 1, started: '', override: undefined, approval: undefined },
        facts: { ...facts, products: [`p${at}`], recipient: `r${at % 1000}` },
      };
      times += BigInt(reservation.at);
      database.run(insertReservation, ...rowOf(reservation));
    }
    writeReservationSum(database, { rows: BigInt(count), times });
  });
  const [begin, end] = [Date.UTC(2026, 2, 1), Date.UTC(2026, 3, 1)];
  const month = { isRehearsal: false, begin, end, retailer: undefined, metadata: [] };
  const limits = [month, { ...month, begin: Date.UTC(2026, 2, 20), end: Date.UTC(2026, 2, 21) }];
  const spent: number[] = [];
  for (let at = 0; at < 100; at += 1) {
    const key = `order-${at}`;
    const body = { products: [{ url: `https://shop.example/${at}` }], max_price: 4900, idempotency_key: key };
    const sender = { profile: 'local', keyMasked: '…', account: order.account, baseUrl: service };
    const began = process.cpuUsage();
    await journal.record({ ...sender, key, keyOrigin: 'made', operation: 'order.create', body }, undefined, {
      ...{ orders: [{ ...order, key, intent: key, facts }], since: begin, limits },
      admit: (fresh, standing) => {
        for (const limit of limits) standing.used(limit);
        standing.like(
          fresh.map((one) => one.facts),
          now - 7 * 24 * 3600 * 1000,
          false,
        );
        return {};
      },
    });
    const { user, system } = process.cpuUsage(began);
    spent.push((user + system) / 1000);
  }
  await journal.close();
  return median(spent);
}

const insertReservation = `INSERT INTO reservations (key, base_url, account, state, at, cents, fee, counted, rehearsal,
  order_id, pid, process_started, override, intents, facts, approval, checksum)
  VALUES (${Array.from({ length: 17 }, () => '?').join(', ')})`;

async function inDatabase(folder: string, work: (database: Database) => void): Promise<void> {
  const { database } = await openJournalDatabase(folder, {});
  await database.transaction(() => work(database));
  await database.close();
}
