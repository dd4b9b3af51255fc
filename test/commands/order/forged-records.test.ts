import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Intent } from '../../../src/journal/journal-record.ts';
import { orderId } from '../../support/caller.ts';
import { forge, like } from '../../support/forge.ts';
import { rowBody } from '../../support/order-body.ts';
import { json, peer } from '../../support/peer.ts';
import { errand } from '../../support/run.ts';
import { errorOf, lose, type Shopping, shopping } from '../../support/shopping.ts';
import { makeWorkspace } from '../../support/workspace.ts';

/** Threat model: an attacker can write the journal but has no API key. */

const limit = 'limits: { per_order: $200 }';

function policy({ workspace }: Shopping, text: string): void {
  const folder = join(workspace.folder, '.config');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(join(folder, 'policy.yaml'), `version: 1\n${text}\n`, { mode: 0o600 });
}

/** A machine with one order, under a policy that allows $200 per order. */
async function ordered(text = limit): Promise<Shopping> {
  const shop = await shopping();
  if (text !== '') policy(shop, text);
  const first = await shop.order('-o', 'json');
  expect(first.code, first.stderr).toBe(0);
  return shop;
}

/** Every command that could resend the record. */
const resumes = [['--all'], ['forged-0000'], ['forged-0000', '--resend']] as const;

const resume = ({ run }: Shopping, ...more: readonly string[]) =>
  run('order', 'journal', 'resume', ...more, '-o', 'json');

const dear = (intent: Intent): Intent => ({ ...intent, body: { ...intent.body, max_price: 90_000 } });

describe('a row that somebody wrote into the journal', () => {
  test('places no order past the policy, is looked at, and can be forgotten', async () => {
    const shop = await ordered();
    await forge(shop.workspace, (it) => it.insert(dear(like(it.rows()[0], {}))));
    for (const flags of resumes) {
      const ended = await resume(shop, ...flags);
      expect([flags, ended.code], ended.stdout).toEqual([flags, 5]);
      expect(errorOf(ended).message).toContain('the audit chain does not have forged-0000');
      expect(errorOf(ended)).toMatchObject({
        outcome: 'unknown',
        details: { orders_alike: [{ id: expect.any(String) }] },
      });
    }
    expect((await shop.orders()).map(({ max_price: cents }) => cents)).toEqual([5000]);
    const { command } = errorOf(await resume(shop, 'forged-0000')).next.at(-1);
    expect(command).toBe('errand order journal forget forged-0000');
    expect((await shop.run(...command.split(' ').slice(1))).code).toBe(0);
    expect((await resume(shop, '--all')).stdout.trim()).toBe('[]');
  });

  test('names what the service has that looks like it', async () => {
    const shop = await ordered();
    await forge(shop.workspace, (it) => it.insert(like(it.rows()[0], {})));
    const ended = await resume(shop, '--all');
    const id = (await shop.orders())[0]?.id;
    expect(ended.code).toBe(5);
    expect(errorOf(ended).message).toContain(`The order ${id} looks like it.`);
    expect(errorOf(ended).next[0]).toEqual({ command: `errand order get ${id}`, when: 'to look at it' });
    expect(await shop.orders()).toHaveLength(1);
  });

  test.each<[string, (shop: Shopping) => Partial<Intent>, string]>([
    [
      'a batch',
      ({ service }) => ({
        operation: 'bulk.create',
        body: { filename: 'a.csv', rows: [rowBody(service.product('test-success'))] },
      }),
      '/orders/bulk',
    ],
    [
      'a return',
      () => ({
        operation: 'return.create',
        body: { order_id: orderId, reason: 'damaged', items: [{ order_item_id: orderId, quantity: 1 }] },
      }),
      '/returns',
    ],
    ['what is of no operation', () => ({ operation: 'wallet.drain' }), '/orders'],
  ])('sends %s as little', async (_, changes, path) => {
    const shop = await ordered();
    const sent: string[] = [];
    shop.losses.onMoment = (moment) => void sent.push(moment);
    await forge(shop.workspace, (it) => it.insert(like(it.rows()[0], changes(shop))));
    const ended = await resume(shop, '--all');
    expect([path, ended.code, errorOf(ended).code]).toEqual([path, 5, 'not_proven']);
    expect(await shop.orders()).toHaveLength(1);
    expect(sent).toEqual([]);
  });

  test.each([
    ['whose account is masked', (row: Intent) => ({ account: `masked ${row.keyMasked}` })],
    [
      'that says it is paid for',
      () => ({
        account: 'of somebody',
        payment: { challenge_id: 'c', method: 'm', amount: '1', currency: 'usd', expires: null },
      }),
    ],
  ])('of another account %s is not taken for one of this', async (_, changes) => {
    const shop = await ordered('');
    await forge(shop.workspace, (it) => {
      const intent = like(it.rows()[0], {});
      const forged = { ...dear(intent), ...changes(intent) };
      it.insert(forged);
      it.enter(forged);
    });
    const ended = await resume(shop, 'forged-0000');
    expect([ended.code, errorOf(ended).message]).toEqual([
      5,
      expect.stringMatching(/another key|did not note whose it is/),
    ]);
    expect(await shop.orders()).toHaveLength(1);
  });

  test.each(['', 'its own signature', 'the signature of another order'])(
    'with a whole entry of the chain and %s, sends nothing, and is named wherever one looks',
    async (which) => {
      const shop = await ordered('');
      await forge(shop.workspace, (it) => {
        const forged = dear(like(it.rows()[0], {}));
        it.insert(forged);
        const mac = which === 'its own signature' ? 'f'.repeat(64) : String(it.macs()[0]);
        it.enterWhole(forged, which === '' ? undefined : () => mac);
      });
      for (const flags of resumes) {
        const ended = await resume(shop, ...flags);
        expect([flags, ended.code], ended.stdout).toEqual([flags, 5]);
        expect(errorOf(ended).message).toContain('forged-0000 is not signed under the API key in use');
      }
      expect(await shop.orders()).toHaveLength(1);
      const verified = await shop.run('audit', 'verify', '-o', 'json');
      expect(verified.code).toBe(7);
      expect(JSON.parse(verified.stdout).findings).toMatchObject([{ finding: 'unsigned' }]);
      const doctor = await shop.run('doctor');
      expect(`${doctor.stdout}${doctor.stderr}`).toContain('forged-0000 is in doubt, and nothing proves');
    },
  );

  test('does not let the batch of its key past the policy', async () => {
    const shop = await ordered();
    const { ERRAND_BASE_URL: url = '', ERRAND_API_KEY: key = '' } = shop.workspace.environment;
    const other = makeWorkspace({ ERRAND_NO_INPUT: '1', ERRAND_BASE_URL: url, ERRAND_API_KEY: key });
    onTestFinished(other.remove);
    const row = { ...rowBody(shop.service.product('test-slow')), max_price: '$900.00', country: 'US' };
    const csv = `${Object.keys(row).join(',')}\n${Object.values(row).join(',')}\n`;
    for (const { folder } of [shop.workspace, other]) writeFileSync(join(folder, 'orders.csv'), csv);
    const upload = ['bulk', 'upload', 'orders.csv', '--retries', '0'];
    lose(shop, 'reset-before', 'reset-before', 'reset-before', 'reset-before');
    const lost = await errand(other, upload);
    expect(lost.code, lost.stderr).toBe(10);
    shop.losses.faults = [];
    let batch: Intent | undefined;
    await forge(other, (it) => {
      const row = it.rows()[0];
      batch = like(row, { key: String(row?.key), body: JSON.parse(String(row?.body)) });
    });
    await forge(shop.workspace, (it) => batch && it.insert(batch));
    const refused = await shop.run(...upload);
    expect([refused.code, refused.stderr]).toEqual([11, expect.stringContaining('limits.per_order')]);
    expect((await shop.orders()).map(({ max_price: cents }) => cents)).toEqual([5000]);
  });
});

describe('a record in doubt that somebody has changed', () => {
  /** One order whose request never reached the service. */
  async function doubted(): Promise<{ readonly shop: Shopping; readonly key: string }> {
    const shop = await shopping();
    policy(shop, limit);
    lose(shop, 'reset-before');
    expect((await shop.order()).code).toBe(10);
    const key = (await shop.run('order', 'journal', 'list', '-o', 'id')).stdout.trim();
    return { shop, key };
  }

  test('is sent as it was requested, or not at all', async () => {
    const { shop, key } = await doubted();
    await forge(shop.workspace, (it) => {
      const { body } = dear(like(it.rows()[0], { key }));
      it.change(key, { body: JSON.stringify({ ...body, idempotency_key: key }) });
    });
    const ended = await resume(shop, '--all');
    expect([ended.code, errorOf(ended).message]).toEqual([5, expect.stringContaining('was changed')]);
    expect(await shop.orders()).toEqual([]);
  });

  test('sends nothing where a policy held, and its reservation is gone', async () => {
    const { shop } = await doubted();
    await forge(shop.workspace, (it) => it.unreserve());
    const ended = await resume(shop, '--all');
    expect([ended.code, errorOf(ended).message]).toEqual([
      5,
      expect.stringContaining('nothing is reserved for it'),
    ]);
    expect(await shop.orders()).toEqual([]);
  });

  test('is not sent again once it has ended', async () => {
    const { shop, key } = await doubted();
    expect((await shop.run('order', 'journal', 'forget', key)).code).toBe(0);
    await forge(shop.workspace, (it) => it.change(key, { state: 'intended', live: 2 }));
    const ended = await resume(shop, '--all');
    expect([ended.code, errorOf(ended).message]).toEqual([5, expect.stringContaining('has ended')]);
    expect(await shop.orders()).toEqual([]);
  });

  test('is no younger than the chain says', async () => {
    const { shop, key } = await doubted();
    const threeDays = 3 * 24 * 3600 * 1000;
    await forge(shop.workspace, (it) =>
      it.change(key, { created_at: new Date(Date.now() + threeDays).toISOString() }),
    );
    shop.later(threeDays);
    const ended = await resume(shop, '--all');
    expect([ended.code, errorOf(ended).message]).toEqual([
      5,
      expect.stringContaining('longer than a service keeps a key'),
    ]);
    expect(await shop.orders()).toEqual([]);
  });

  test('is sent, as ever, where nobody has', async () => {
    const { shop } = await doubted();
    expect((await resume(shop, '--all')).code).toBe(0);
    expect(await shop.orders()).toHaveLength(1);
  });
});

describe('a record that names the host of somebody else', () => {
  test('leads nobody there: no command names it, and no key is sent to it', async () => {
    const shop = await ordered();
    const foreign = await peer(json({ orders: [], total: 0 }));
    await forge(shop.workspace, (it) => it.insert(like(it.rows()[0], { baseUrl: foreign.url })));
    const lines: readonly (readonly string[])[] = [
      ['order', 'journal', 'resume', '--all'],
      ['order', 'journal', 'resume', 'forged-0000'],
      ['order', 'list'],
      ['order', 'journal', 'list', '--fields', 'key,state'],
      ['doctor'],
    ];
    for (const line of lines) {
      const { stdout, stderr } = await shop.run(...line);
      for (const [command] of `${stdout}\n${stderr}`.matchAll(/errand order journal resume [^\n;`]*/g))
        await shop.run(...command.trim().split(' ').slice(1));
      expect(`${line.join(' ')}\n${stdout}${stderr}`).not.toContain(foreign.url);
    }
    expect(foreign.received).toEqual([]);
    const named = await resume(shop, 'forged-0000');
    expect([named.code, errorOf(named).message]).toEqual([
      5,
      'the record forged-0000 names a service that no profile, flag or variable of this run names; nothing was sent',
    ]);
    expect((await resume(shop, '--all')).stderr).toContain('a record names a service that no profile');
    expect((await shop.run('order', 'list')).stderr).toContain('a record names a service that no profile');
  });
});
