import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { orderBody } from '../../support/order-body.ts';
import { errand, type Finished } from '../../support/run.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
beforeEach(() => {
  workspace = makeWorkspace();
});
afterEach(() => workspace.remove());

const clock = { now: '2026-11-02T09:00:00.000Z' };
const order = { ...orderBody('{shop_url}/test-success'), max_price: 2500 };

function write(scenario: object, name = 'case.yaml'): string {
  writeFileSync(join(workspace.folder, name), JSON.stringify({ version: 1, clock, ...scenario }, null, 1));
  return name;
}

const play = (...args: readonly string[]): Promise<Finished> =>
  errand(workspace, ['sandbox', 'test', ...args]);

interface Row {
  readonly check: string;
  readonly status: string;
  readonly why: string | null;
}

async function rows(scenario: object): Promise<[string, string, string | null][]> {
  const { stdout } = await play(write(scenario), '-o', 'json');
  return JSON.parse(stdout).map(({ check, status, why }: Row) => [check, status, why]);
}

test('real cases: an order, a cancel that comes too late, a return, an upload, triggers, money', async () => {
  const found = await rows({
    keys: [{ name: 'buyer', balance: 20_000, webhook: 'http://127.0.0.1:9/hook' }],
    steps: [
      { order, as: 'first' },
      { order: { ...order, metadata: { after: '{first}' } }, as: 'second' },
      { cancel: 'second' },
      { advance: '3s' },
      { cancel: 'first', expect: { status: 400, code: 'order_not_cancellable' } },
      { trigger: 'delivered', of: 'first' },
      { return: { order: 'first', reason: 'wrong_size' }, as: 'back' },
      { trigger: 'return-credited', of: 'back' },
      { upload: { rows: [{ product_url: 'no' }] }, as: 'table' },
      { request: 'GET /orders/{second}', expect: { body: { status: 'cancelled' } } },
      { trigger: 'wallet-funded', amount: 100 },
      { order: { ...order, max_price: 99_999_900 }, expect: { code: 'insufficient_funds' } },
    ],
    expect: [
      { order: 'first', state: 'delivered', body: { items: [{ status: 'delivered' }] } },
      { order: 'second', state: 'cancelled' },
      { return: 'back', state: 'credited' },
      { batch: 'table', body: { status: 'failed', failed_count: 1 } },
      { wallet: 'buyer', body: { balance: 20_000 - 100 + 100 } },
      { webhooks: 'second', events: ['status_updated'] },
      {
        request: 'GET /orders?metadata_key=after&metadata_value={first}',
        body: { total: 1, orders: [{ metadata: { after: '{first}' } }] },
      },
    ],
  });
  expect(found.filter(([, status]) => status !== 'held')).toEqual([]);
  expect(found).toHaveLength(19);
});

test('what does not hold is told with what was expected and what was there; what follows a failed step is skipped', async () => {
  const orders = [{ name: 'first', order, state: 'delivered' }];
  expect(
    await rows({
      orders,
      expect: [{ order: 'first', state: 'cancelled', body: { max_price: 1, nosuch: 2 } }],
    }),
  ).toEqual([
    [
      'order first is cancelled',
      'failed',
      'state: expected cancelled, got delivered; max_price: expected 1, got 2500; nosuch: expected 2, got nothing',
    ],
  ]);
  expect(await rows({ orders, expect: [{ order: 'first', body: { max_price: '2500' } }] })).toEqual([
    ['order first', 'failed', 'max_price: expected "2500", got 2500'],
  ]);
  const nobody = '11111111-1111-4111-8111-111111111111';
  const steps = [{ request: 'GET /orders/nowhere' }, { advance: '1s' }];
  expect(await rows({ steps, expect: [{ order: nobody, state: 'delivered' }] })).toEqual([
    ['GET /orders/nowhere', 'failed', expect.stringMatching(/^expected success, got 4\d\d /)],
    ['advance 1s', 'skipped', null],
    [`order ${nobody} is delivered`, 'skipped', null],
  ]);
  expect(await rows({ expect: [{ order: nobody, state: 'delivered' }] })).toEqual([
    [`order ${nobody} is delivered`, 'failed', `expected order ${nobody}, got nothing`],
  ]);
});

test('every file is checked before the first is played, and the exit code tells what was wrong', async () => {
  const good = write({ expect: [{ wallet: 'default', body: { balance: 100_000 } }] }, 'good.yaml');
  const wrong = write({ expect: [{ wallet: 'default', body: { balance: 1 } }] }, 'wrong.yaml');
  const broken = write({ expect: [{ nothing: 1 }] }, 'broken.yaml');
  expect(await play(good)).toMatchObject({ code: 0, stderr: '1 held, 0 failed\n' });
  expect(await play(good, wrong, good)).toMatchObject({ code: 7, stderr: '2 held, 1 failed\n' });
  const refused = await play(good, broken);
  expect([refused.code, refused.stdout]).toEqual([2, '']);
  expect(refused.stderr).toContain('broken.yaml, line ');
  expect((await play(good, '--report', 'xml=x')).stderr).toContain('--report takes junit=FILE');
  expect(readdirSync(workspace.folder).toSorted()).not.toContain('.state');
});

test('the JUnit report is XML 1.0, whatever the file and its texts are called', async () => {
  const description = 'a <b> & "c"\u0000\u001b[31m \ud800 \uffff \u202e ]]>';
  write(
    {
      description,
      steps: [{ request: 'GET /nowhere' }],
      expect: [{ wallet: 'default', body: { id: 'x\u0007<' } }],
    },
    'a&b.yaml',
  );
  write({ description, expect: [{ wallet: 'default', body: { id: 'x\u0007</failure>&' } }] }, 'c.yaml');
  expect((await play('a&b.yaml', 'c.yaml', '--report', 'junit=report.xml')).code).toBe(7);
  const xml = readFileSync(join(workspace.folder, 'report.xml'), 'utf8');
  // Only characters valid in XML 1.0, and no escapes for invalid ones.
  expect(xml).toMatch(/^[\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]*$/u);
  expect(xml).not.toMatch(/&#(?:x?0|[0-8];|1[0-9];)/);
  const tags = [...xml.matchAll(/<(\/?)(\w+)((?: \w+="[^"<]*")*)(\/?)>/g)];
  expect(xml.replaceAll(/<\/?\w+(?: \w+="[^"<]*")*\/?>|<\?.*?\?>/g, '')).not.toMatch(/[<>]/);
  const open: string[] = [];
  for (const [, end, name = '', , isEmpty] of tags) {
    if (end) expect(open.pop()).toBe(name);
    else if (!isEmpty) open.push(name);
  }
  expect(open).toEqual([]);
  expect(xml).toContain('tests="3" failures="2" errors="0" skipped="1"');
  expect(xml.replaceAll(/&(?:amp|lt|gt|quot|#39);/g, '')).not.toContain('&');
});

test('a file that checks nothing is no green test', async () => {
  const nothing = write({ orders: [{ order }] });
  const alone = await play(nothing);
  expect([alone.code, alone.stdout]).toEqual([2, '']);
  expect(alone.stderr).toContain('case.yaml has neither steps nor expect: nothing in it would be checked');
  const checks = write({ expect: [{ wallet: 'default', body: { balance: 100_000 } }] }, 'checks.yaml');
  const beside = await play(nothing, checks);
  expect(beside.code).toBe(0);
  expect(beside.stderr).toContain('case.yaml has neither steps nor expect');
  expect(beside.stderr).toContain('1 held');
});
