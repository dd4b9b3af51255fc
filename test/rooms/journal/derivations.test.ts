import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { rowReader } from '../../../src/api/bulk-row.ts';
import { isInShard } from '../../../src/bulk/check/check.ts';
import { fingerprintOf } from '../../../src/bulk/check/file-check.ts';
import { keyOfRows, RowKeys, stableKey } from '../../../src/bulk/rows.ts';
import { fingerprint } from '../../../src/config/keys.ts';
import { bodyHash, canonicalJson } from '../../../src/format/canonical.ts';
import { copyFolder } from '../../../src/format/database-address.ts';
import { isForBody } from '../../../src/http/payment-challenge.ts';
import { type ApprovalRequest, approvalRow, signedText } from '../../../src/journal/approval-row.ts';
import { AuditChain, intentEntry } from '../../../src/journal/audit.ts';
import { nobody } from '../../../src/journal/audit-entry.ts';
import { firstPrevious, hashedRecord } from '../../../src/journal/audit-record.ts';
import { addressHash, contentHash } from '../../../src/journal/content.ts';
import { openStateDatabase } from '../../../src/journal/database.ts';
import { recordCountFileOf, Tally, writeRecordCount } from '../../../src/journal/integrity.ts';
import { newIntent } from '../../../src/journal/intent-row.ts';
import { readFact, writeFact, writeReservationSum } from '../../../src/journal/journal-facts.ts';
import type { Intent } from '../../../src/journal/journal-record.ts';
import { journalFile, journalMigrations } from '../../../src/journal/journal-tables.ts';
import { Spool } from '../../../src/journal/postgres/spool.ts';
import { PublishedPolicies, policyText } from '../../../src/journal/published-policy.ts';
import { Quotes, quoteId } from '../../../src/journal/quotes.ts';
import { type Reservation, rowOf } from '../../../src/journal/reservation-row.ts';
import { LastList, Titles } from '../../../src/journal/saved-files.ts';
import { openWebhookStore } from '../../../src/journal/webhook-store.ts';
import type { Database } from '../../../src/platform/sqlite/database.ts';
import { openReader } from '../../../src/platform/sqlite/load.ts';
import { forApprovals } from '../../../src/spending/approval/ssh.ts';
import { subjectOf } from '../../../src/spending/approval/subject.ts';
import { ordersOf } from '../../../src/spending/policy/facts.ts';

// Stored records, approvals and keys in flight follow from these: whoever changes one orders twice, or reads damage where
// there is none. So the values of `derivations.json` are never filled in anew.

const pinned: Readonly<Record<string, unknown>> = JSON.parse(
  readFileSync(new URL('derivations.json', import.meta.url), 'utf8'),
);
const compared = new Set<string>();

function pin(name: string, value: unknown): void {
  compared.add(name);
  expect(value).toEqual(pinned[name]);
}

const now = Date.parse('2026-03-01T12:00:00Z');

const address = {
  ...{ first_name: 'Ada', last_name: 'Byron', address_line1: '1  Main st', city: 'Zürich', state: 'TX' },
  ...{ postal_code: '78701-1234', country: 'us', phone_number: '5125550100' },
};
const order = {
  idempotency_key: 'k-1',
  products: [{ url: 'https://shop.example/b', quantity: 2 }, { url: 'HTTPS://shop.example' }],
  shipping_address: address,
  max_price: 5000,
  metadata: { team: 'blue', n: 7 },
  po_number: '',
  is_gift: false,
};
const cells = {
  ...{ product_url: 'https://shop.example/b', max_price: '5000', first_name: 'Ada', last_name: 'Byron' },
  ...{ address_line1: '1 Main St', city: 'Zürich', state: 'TX', postal_code: '78701', country: 'US' },
  phone_number: '5125550100',
};

const intentOf = (operation: string, body: Intent['body']): Intent => ({
  ...{ key: 'k-1', keyOrigin: 'made', operation, profile: 'work', baseUrl: 'https://service.example', body },
  ...{ keyMasked: 'xx_test_…a1b2', account: 'a-fingerprint' },
});
const single = intentOf('order.create', order);
const batch = intentOf('bulk.create', {
  filename: 'orders.csv',
  rows: [cells, { ...cells, product_url: 'https://shop.example/c', idempotency_key: 'mine' }],
});

describe('keys and hashes of what is ordered', () => {
  test('a body', () => {
    pin('canonical body', canonicalJson(order));
    pin('body', bodyHash(order));
  });

  test('the content of each operation', () => {
    const hashes = {
      order: contentHash('order.create', order),
      paid: contentHash('agent.order.create', order),
      return: contentHash('return.create', {
        order_id: 'AB',
        items: [
          { order_item_id: 'D', quantity: 1 },
          { order_item_id: 'C', quantity: 2 },
        ],
        reason: 'damaged',
        notes: '',
      }),
      batch: contentHash('bulk.create', batch.body),
      other: contentHash('legacy.retry', { id: 7 }),
      address: addressHash(order),
    };
    pin('content', hashes);
  });

  test('the key of a row, of the same row once more, under a --run, and of a batch', () => {
    const { plan, values, row: cellsOf } = rowReader()(cells);
    const row = { plan, cells: values, row: cellsOf };
    const keys = new RowKeys('');
    const again = new RowKeys('again');
    pin('row keys', [keys.key(row), keys.key(row), again.key(row)]);
    pin('batch key', keyOfRows([cells, { ...cells, max_price: '5100' }]));
    pin('stable key', stableKey(['run', 'hash', 1]));
  });

  test('the fingerprint of an upload, and the part of a file that a row falls to', () => {
    pin('upload', fingerprintOf(['k-1', 'k"2']));
    const parts = ['k-1', 'k-2', 'k-3', 'k-4', 'k-5', 'k-6'].map((key) =>
      [1, 2, 3, 4, 5, 6, 7].find((part) => isInShard({ part, of: 7 }, key)),
    );
    pin('shards', parts);
  });
});

describe('accounts, approvals and policies', () => {
  test('the fingerprint of a key, and the folder for the copy of a database', () => {
    pin('account', fingerprint('xx_test_0123456789abcdef', 'https://service.example'));
    pin('copy folder', copyFolder('/s', { url: '', shown: 'db.example:5432/team' }));
  });

  test('what an approval of an order, an upload or a plan is bound to', () => {
    const subjects = [
      subjectOf([single], { isRehearsal: false }),
      subjectOf([batch], { isRehearsal: false }),
      subjectOf([batch], { isRehearsal: false, plan: { hash: 'c0ffee', cents: 1, summary: {} } }),
    ].map(({ terms, parts }) => ({ terms, parts }));
    pin('approval subjects', subjects);
  });

  test('the text that is signed, and the checksum of its record', () => {
    const { subject, service, account, profile, operation, is_rehearsal, terms, parts, summary, key } =
      subjectOf([single], { isRehearsal: true });
    const request: ApprovalRequest = {
      ...{
        errand_approval: 1,
        id: '0123456789ab',
        subject,
        service,
        account,
        profile,
        operation,
        is_rehearsal,
      },
      ...{ terms, parts, total_cents: 5100, summary, key, rules: ['approve.above'], override: null },
      ...{
        asked_by: 'ada@laptop',
        asked_at: '2026-03-01T12:00:00.000Z',
        expires_at: '2026-03-02T12:00:00.000Z',
      },
    };
    pin('signed text', [forApprovals.namespace, signedText(request)]);
    const decided = { decidedAt: '2026-03-01T13:00:00.000Z', decidedBy: 'SHA256:x', signature: 'sig' };
    const open = { decidedAt: undefined, decidedBy: undefined, signature: undefined };
    pin('approval checksums', [
      approvalRow({ request, state: 'approved', ...decided }).at(-1),
      approvalRow({ request, state: 'open', ...open }).at(-1),
    ]);
  });

  test('what a limit knows of an order and of the rows of a batch', () => {
    const terms = { feeCents: 100, isRehearsal: false, findsDuplicates: true };
    const known = [single, batch].flatMap((intent) => ordersOf(intent, terms));
    // The form in which reservations were made before products and recipients had a canonical one.
    const inEarlierForm = known.map(({ key, cents, facts: { retailers, metadata }, earlier }) => ({
      ...{ key, cents, facts: { retailers, metadata, ...earlier } },
    }));
    pin('facts', inEarlierForm);
    const needs = known.map(({ facts: { products, recipient } }) => ({ products, recipient }));
    pin('facts of needs', needs);
  });

  test('the digest of a body that a challenge is for', () => {
    const body = Buffer.from('{"max_price":5000}');
    expect(isForBody({ digest: 'sha-256=5aR+8d+PJeTXYVaZqJe9zATCVGhaSPq2lk2DXgms2no=' }, body)).toBe(true);
  });
});

describe('records', () => {
  let folder: string;
  let database: Database;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'errand-derivations-'));
    database = await openStateDatabase(journalFile(folder), journalMigrations);
  });
  afterEach(() => {
    database.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const owner = { pid: 7, started: '9' };

  test('an intent: its duplicate number and checksum', () => {
    const content = contentHash(single.operation, single.body);
    const { twin, checksum, body } = newIntent(single, content, owner, '2026-03-01T12:00:00.000Z');
    pin('intent', [twin, checksum, body]);
  });

  test('a reservation, with and without an approval', () => {
    const terms = { feeCents: 100, isRehearsal: false, findsDuplicates: true };
    const [spending] = ordersOf(single, terms);
    if (!spending) throw new Error('no order');
    const { intent, earlier, ...order } = spending;
    if (!earlier) throw new Error('no facts in the earlier form');
    const { retailers, metadata } = order.facts;
    const reserved = { ...order, facts: { retailers, metadata, ...earlier } };
    const reservation: Reservation = {
      ...{ ...reserved, ...owner, state: 'held', at: now, counted: 5100, orderId: 'o-1', intents: [intent] },
      ...{ override: undefined, approval: undefined },
    };
    pin('reservation', [rowOf(reservation).at(-1), rowOf({ ...reservation, approval: 'a-1' }).at(-1)]);
  });

  test('the sum of reservations, the tally of intents, and the seal beside the journal', async () => {
    await database.transaction(() => {
      writeReservationSum(database, { rows: 2n, times: 30n });
      new Tally(database).renew(42, [
        { live: 2, twin: 5 },
        { live: 1, twin: 2 ** 39 },
      ]);
    });
    const tally = database.get('SELECT count, rows, live, twins, checksum FROM tally');
    const seal = recordCountFileOf(join(folder, 'other.db'));
    writeRecordCount(seal, 42);
    pin('sums', [readFact(database, 'reservations'), { ...tally }, readFileSync(seal, 'latin1')]);
  });

  test('a record of the audit chain, and the hash that an address has there', () => {
    const { detail, ...entry } = intentEntry(single, 'c0ffee', 3, {
      again: false,
      salt: 'salt',
      policy: null,
    });
    const facts = {
      ...{ number: 1, time: '2026-03-01T12:00:00.000Z', kind: entry.kind, actor: 'ada@laptop', job: null },
      ...{ command: 'order create', profile: 'work', service: 'https://service.example', key: 'k-1' },
      ...{ order_id: null, amount_cents: 5000, currency: null, detail, previous: firstPrevious },
    };
    pin('audit', [detail, hashedRecord({ ...facts, detail: { ...detail } }).hash]);
  });

  test('a quote: what its handle names, and its checksum', async () => {
    const id = quoteId('the-handle');
    const quote = {
      ...{ baseUrl: 'https://service.example', account: 'a', profile: 'work', isNew: false, client: 'agent' },
      ...{ body: { max_price: 5000 }, createdAt: '2026-03-01T12:00:00.000Z' },
    };
    await database.transaction(() =>
      database.run(
        'INSERT INTO quotes (id, key, until, quote, checksum) VALUES (?, ?, ?, ?, ?)',
        ...[id, 'k-1', now, canonicalJson(quote), '0cf8e2ec61480abdbef7203d85d1e9ea'],
      ),
    );
    const quotes = new Quotes(
      database,
      new AuditChain(
        database,
        () => now,
        () => nobody,
      ),
      () => now,
    );
    expect([id, quotes.find('the-handle', { account: 'a' })?.key]).toEqual([
      '0ed558069ca9495dec4559f24f57069591fb8bb459afa66ce9e694de8e8b8136',
      'k-1',
    ]);
  });

  test('a published policy', async () => {
    const audit = new AuditChain(
      database,
      () => now,
      () => nobody,
    );
    const policies = new PublishedPolicies(database, audit);
    const policy = {
      ...{
        text: 'version: 1\n',
        keys: {},
        timeZone: 'UTC',
        by: 'ada@laptop',
        at: '2026-03-01T12:00:00.000Z',
      },
      ...{ database: 'd-1', number: 1 },
    };
    pin('signed policy text', policyText(policy));
    await policies.publish(policy, { signature: 'signature', signer: 'SHA256:ada' }, undefined);
    pin('published policy', readFact(database, 'policy'));
    expect(policies.stored()).toMatchObject({ kind: 'signed', policy, text: policyText(policy) });
    const unsigned = `{"text":"version: 1\\n","keys":{},"timeZone":"UTC","by":"ada@laptop","at":"${policy.at}"}`;
    const hash = '685eede1ad454df74fe59918f46d66c4fc833d92fe77ecc9b948674f502adf69';
    await database.transaction(() => writeFact(database, 'policy', `${hash} ${unsigned}`));
    expect(policies.stored()).toMatchObject({ kind: 'unsigned', by: 'ada@laptop', at: policy.at });
  });

  test('a received event', async () => {
    const store = await openWebhookStore(folder, () => now);
    await store.events.save(
      {
        ...{ event: 'status_updated', orderId: 'o-1', status: 'pending', errorType: null, headers: {} },
        ...{ body: '{"id":"o-1"}', profile: 'work', baseUrl: 'https://service.example' },
      },
      { acts: false, shows: false },
    );
    store.close();
    const events = openReader(join(folder, 'webhooks.db'));
    pin('event', events.prepare('SELECT digest FROM events').all());
    events.close();
  });

  test('what a team missed, a title, and the list of a terminal: the names of files and what is in them', () => {
    new Spool(folder, 'the-database').save({
      ...{ kind: 'made', madeId: 'o-1', isReported: true, key: 'k-1', baseUrl: 'https://service.example' },
    });
    new Titles(folder, { service: 'https://service.example', account: 'a' }).save([
      ['https://shop.example/b', 'Beans'],
    ]);
    new LastList(folder, 'a terminal', () => now).write({
      ...{ kind: 'orders', profile: 'work', service: 'https://service.example', rows: [null] },
    });
    const texts = ['spool', 'lists'].flatMap((name) =>
      readdirSync(join(folder, name)).map((file) => [
        `${name}/${file}`,
        readFileSync(join(folder, name, file), 'utf8'),
      ]),
    );
    pin('files', [...texts, ['titles.json', readFileSync(join(folder, 'titles.json'), 'utf8')]]);
  });
});

test('every pinned value is compared', () => {
  expect([...compared].sort()).toEqual(Object.keys(pinned).sort());
});
