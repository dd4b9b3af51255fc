import { spawn } from 'node:child_process';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { loadSqlite } from '../../../src/platform/sqlite/load.ts';
import { Begun } from '../../support/begun.ts';
import { orderBody } from '../../support/order-body.ts';
import { errand } from '../../support/run.ts';
import { Till } from '../../support/till.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

let till: Till;
let workspace: Workspace;

beforeEach(async () => {
  till = await Till.open();
  workspace = makeWorkspace({ ERRAND_BASE_URL: till.url, ERRAND_NO_INPUT: '1' });
  writeFileSync(join(workspace.folder, 'order.json'), JSON.stringify(orderBody(till.product())));
});
afterEach(async () => {
  workspace.remove();
  await till.close();
});

const order = (...more: string[]) =>
  errand(workspace, ['agent', 'order', 'create', '--file', 'order.json', ...more]);
const journal = async () =>
  JSON.parse((await errand(workspace, ['order', 'journal', 'list', '--all', '-o', 'json'])).stdout);
const failure = ({ stderr }: { stderr: string }) =>
  JSON.parse(stderr.split('\n').findLast((line) => line.startsWith('{')) ?? '{}').error;

/** A wallet command that records its requests and runs the given script. */
function wallet(script: string): string[] {
  writeFileSync(join(workspace.folder, 'wallet.sh'), `tee -a asked.json > one.json\n${script}\n`);
  return ['--pay-command', 'sh wallet.sh'];
}
const pays = `printf '{"payload":{"signature":"0x1"}}'`;

describe('an order without an account', () => {
  test('a wallet gets no key of ours, and what it tells is text', async () => {
    Object.assign(workspace.environment, {
      ERRAND_API_KEY: 'xx_test_0123456789abcdef',
      ERRAND_LEGACY_TOKEN: 'tt',
    });
    const tells = `printf 'keys:%s;\\033]0;x\\007\\n' "$ERRAND_API_KEY$ERRAND_LEGACY_TOKEN" >&2`;
    const { stderr } = await order('--method', 'tempo', '--yes', ...wallet(`${tells}\n${pays}`));
    expect(stderr).toContain('keys:;␛]0;x␇\n');
  });

  test('what a wallet tells is told whole, wherever its writes break a letter', async () => {
    const halves = `printf 'caf\\303' >&2; sleep 0.3; printf '\\251\\n' >&2`;
    const { stderr } = await order('--method', 'tempo', '--yes', ...wallet(`${halves}\n${pays}`));
    expect(stderr).toContain('é');
    expect(stderr).not.toContain('\ufffd');
  });

  test('is paid for, told, and followed by its own key', async () => {
    const { code, stdout, stderr } = await order('-o', 'json');
    expect(code, stderr).toBe(0);
    const { id } = JSON.parse(stdout);
    expect(stderr).toContain('paying $51.00 by sandbox; no money moves');
    expect(stderr).toContain('paid $51.00 by sandbox, receipt r-1');
    expect(till.paid).toHaveLength(1);
    till.pass(60_000);
    const got = await errand(workspace, ['order', 'get', id, '-o', 'json']);
    expect(JSON.parse(got.stdout)).toMatchObject({ id, status: 'order_placed' });
    expect((await errand(workspace, ['order', 'timeline', id, '-o', 'csv'])).stdout).toContain(
      'order_created',
    );
    const second = JSON.parse((await order('--new', '-o', 'json')).stdout).id;
    till.pass(60_000);
    const watched = await errand(workspace, ['order', 'watch', id, second, '--timeout', '10m', '-o', 'id']);
    expect(watched.stdout.trim().split('\n').sort()).toEqual([id, second].sort());
    expect((await errand(workspace, ['order', 'list'])).code).toBe(3);
  });

  test('leaves the key and what paid in no output, and in a file of the owner only', async () => {
    const shown = [
      await order('--debug'),
      await errand(workspace, ['order', 'journal', 'list', '--all', '-o', 'json']),
    ];
    for (const { stdout, stderr } of shown) {
      expect(stdout + stderr).not.toMatch(/Payment ey|xx_test_[A-Za-z0-9]{8}/);
    }
    expect(statSync(join(workspace.folder, '.state', 'journal.db')).mode & 0o777).toBe(0o600);
  });

  test('is shown and not sent with --dry-run', async () => {
    const { stdout } = await order('--dry-run');
    expect(JSON.parse(stdout)).toMatchObject({ method: 'POST', url: `${till.url}/agent/orders` });
    expect(till.requested).toBe(0);
  });

  test('repeated within a short time is not paid for again; on purpose it is two orders', async () => {
    const { id } = JSON.parse((await order('-o', 'json')).stdout);
    const repeated = await order('-o', 'json');
    expect(repeated.code).toBe(5);
    expect(failure(repeated)).toMatchObject({ outcome: 'applied', details: { order_id: id } });
    expect(till.requested).toBe(1);
    expect((await order('--new')).code).toBe(0);
    expect(await till.orders()).toBe(2);
  });

  test('with the key of one that is there already is that one, not paid again', async () => {
    const first = await order('--idempotency-key', 'k1', '-o', 'id');
    const { stdout, stderr } = await order('--idempotency-key', 'k1', '-o', 'id');
    expect(stdout).toBe(first.stdout);
    expect(stderr).toContain('nothing was paid twice');
    expect(till.paid).toHaveLength(1);
  });
});

describe('when no response comes to a payment', () => {
  test('it is sent again by itself, with the same payment', async () => {
    till.mood.lost.after = 1;
    const { code, stderr } = await order();
    expect(code, stderr).toBe(0);
    expect(till.paid).toHaveLength(2);
    expect(new Set(till.paid).size).toBe(1);
    expect(await till.orders()).toBe(1);
  });

  test.each(['before', 'after'] as const)(
    'lost %s the work: in doubt, and resumed with the same payment',
    async (when) => {
      till.mood.lost[when] = 1;
      const lost = await order('--retries', '0', '-o', 'json');
      expect(lost.code, lost.stderr).toBe(10);
      const { idempotency_key: key, next } = failure(lost);
      expect(next[0].command).toContain(`errand order journal resume ${key}`);
      expect(await journal()).toMatchObject([
        {
          key,
          state: 'intended',
          operation: 'agent.order.create',
          payment: { method: 'sandbox', amount: '5100' },
        },
      ]);
      const resumed = await errand(workspace, ['order', 'journal', 'resume', key, '-o', 'id']);
      expect(resumed.code, resumed.stderr).toBe(0);
      expect(till.requested).toBe(1);
      expect(new Set(till.paid).size).toBe(1);
      expect(await till.orders()).toBe(1);
      expect(await journal()).toMatchObject([{ state: 'reported', order_id: resumed.stdout.trim() }]);
      expect((await errand(workspace, ['order', 'get', resumed.stdout.trim()])).code).toBe(0);
    },
  );

  test('the same order asked for again settles that one; --new pays for another', async () => {
    till.mood.lost.after = 1;
    await order('--retries', '0');
    const again = await order();
    expect(again.stderr).toContain('settling that one with its own payment');
    expect(till.requested).toBe(1);
    expect(await till.orders()).toBe(1);
    till.mood.lost.after = 1;
    await order('--retries', '0', '--new');
    expect((await order('--new')).code).toBe(0);
    expect(await till.orders()).toBe(3);
  });

  test('a payment that is refused when it is resumed stays in doubt: only who paid can tell', async () => {
    till.mood.lost.after = 1;
    await order('--retries', '0', '--idempotency-key', 'k1');
    till.forget();
    const resumed = await errand(workspace, ['order', 'journal', 'resume', 'k1', '-o', 'json']);
    expect(resumed.code, resumed.stderr).toBe(10);
    expect(failure(resumed).message).toContain('its payment is refused now');
    expect(failure(resumed).next[0].command).toBe('errand order journal forget k1');
    expect(new Set(till.paid).size).toBe(1);
    expect((await journal())[0]).toMatchObject({ state: 'intended' });
  });

  test('a read is not paid for again: its cent is in doubt', async () => {
    till.mood.lost.after = 1;
    const { code } = await errand(workspace, ['agent', 'search', 'coffee']);
    expect(code).toBe(10);
    expect(till.paid).toHaveLength(1);
    const found = await errand(workspace, ['agent', 'search', 'coffee', '--limit', '2', '-o', 'json']);
    expect(found.code, found.stderr).toBe(0);
    expect(found.stderr).toContain('paid $0.01 by sandbox');
    const log = await errand(workspace, ['audit', 'log', '-o', 'json']);
    const paid = {
      kind: 'paid',
      amount_cents: 1,
      key: null,
      detail: { operation: 'agent.search', method: 'sandbox' },
    };
    expect(JSON.parse(log.stdout)).toMatchObject([paid, paid]);
  });
});

describe('what is not paid', () => {
  test.each([
    ['more than the published price', { surcharge: 1 }, [], 'asks for $51.01, and this costs $51.00'],
    ['more than --max-pay', {}, ['--max-pay', '$50.00'], 'asks for $51.00, and --max-pay allows $50.00'],
    ['what has expired', { expiresInMs: -1 }, [], 'has expired already'],
    ['another request', { digestOf: () => 'sha-256=AAAA' }, [], 'for another request'],
    [
      'by what the built-in payer does not know',
      { methods: ['stripe', 'x402'] },
      [],
      'takes payment by stripe, x402',
    ],
    ['by a method that is not offered', {}, ['--method', 'card'], 'pay first'],
    ['by a wallet that is not there', {}, ['--method', 'tempo'], 'tempo needs a wallet'],
  ])('%s', async (_, mood, flags, message) => {
    Object.assign(till.mood, mood);
    const ended = await order('-o', 'json', ...flags);
    expect(ended.code, ended.stderr).toBe(6);
    expect(failure(ended).message).toContain(message);
    expect(till.paid).toEqual([]);
    expect(await journal()).toEqual([]);
  });

  test('a higher price passes where --max-pay allows it', async () => {
    till.mood.surcharge = 900;
    expect((await order('--max-pay-cents', '6000')).code).toBe(0);
    expect(till.paid).toHaveLength(1);
  });
});

describe('a wallet of your own', () => {
  test('that has paid when the disk fails: the payment is said, and nothing is sent', async () => {
    await order('--max-price-cents', '1');
    const database = new (loadSqlite())(join(workspace.folder, '.state', 'journal.db'));
    database.exec(`CREATE TRIGGER broken BEFORE UPDATE ON intents WHEN NEW.credential IS NOT NULL
      BEGIN SELECT RAISE(ABORT, 'disk I/O error'); END`);
    database.close();
    const before = await till.orders();
    const paid = await order('--new', '--method', 'tempo', '--yes', '-o', 'json', ...wallet(pays));
    expect(paid.code).toBe(6);
    const { message, hint, outcome, details } = failure(paid);
    expect(message).toMatch(/^\$51\.00 was paid by tempo, and the order was not sent: .*disk I\/O error/);
    expect(hint).toContain('buys nothing unless it comes back');
    expect(outcome).toBe('not_sent');
    expect(details.payment).toMatchObject({ method: 'tempo', amount: '5100' });
    expect(await till.orders()).toBe(before);
  });

  test('gets the challenge on stdin and prints what pays', async () => {
    const { code, stderr } = await order(
      '--method',
      'tempo',
      '--yes',
      ...wallet(`echo signing >&2; ${pays}`),
    );
    expect(code, stderr).toBe(0);
    expect(stderr).toContain('signing');
    expect(stderr).toMatch(/pay\s+\$51\.00\n\s+to\s+till\n/);
    const offered = JSON.parse(readFileSync(join(workspace.folder, 'asked.json'), 'utf8'));
    expect(offered).toMatchObject({
      method: 'tempo',
      intent: 'charge',
      request: { amount: '5100', recipient: 'till' },
    });
    expect(till.paid).toEqual([offered.id]);
    expect(till.payloads).toEqual([{ signature: '0x1' }]);
  });

  test('spends only with --yes where nobody can be prompted, and by a method that was named where there are several', async () => {
    const withoutYes = await order('--method', 'tempo', ...wallet(pays));
    expect(withoutYes.code).toBe(2);
    expect(withoutYes.stderr).toContain('pass --yes to confirm');
    const unnamed = await order('--yes', ...wallet(pays));
    expect(unnamed.code).toBe(2);
    expect(unnamed.stderr).toContain('--method says which');
    expect(till.paid).toEqual([]);
  });

  test.each([
    ['declines', 'exit 3', 'the pay command declined (exit 3)'],
    ['prints nothing', 'true', 'the pay command printed nothing'],
    ['prints prose', 'echo ok paid', 'neither JSON nor base64url'],
    ['prints without end', 'yes', 'printed more than'],
    ['pays for another challenge', `printf '{"challenge":{"id":"x"},"payload":{}}'`, 'for another challenge'],
  ])('that %s buys nothing', async (_, script, message) => {
    const ended = await order('--method', 'tempo', '--yes', '-o', 'json', ...wallet(script));
    expect(ended.code, ended.stderr).toBe(6);
    expect(failure(ended).message).toContain(message);
    expect(till.paid).toEqual([]);
    expect(await journal()).toMatchObject([{ state: 'refused' }]);
    expect((await order()).code).toBe(0);
  });

  test('is not trusted with what cannot be compared with dollars, unless a person agrees', async () => {
    till.mood.currency = '0x20c0000000000000000000000000000000000001';
    const flags = ['--method', 'tempo', '--yes', ...wallet(pays)];
    const ended = await order(...flags);
    expect(ended.code).toBe(6);
    expect(ended.stderr).toContain('cannot be compared with dollars');
    expect((await order(...flags, '--max-pay', '$100')).code).toBe(6);
    expect(till.paid).toEqual([]);
  });

  test('takes no currency for dollars that only looks like them', async () => {
    till.mood.currency = 'u\u017fd';
    const flags = ['--method', 'tempo', '--yes', ...wallet(pays)];
    for (const more of [[], ['--max-pay', '$100']]) {
      const ended = await order(...flags, ...more);
      expect(ended.code).toBe(6);
      expect(ended.stderr).not.toContain('Allow more with --max-pay');
      expect(ended.stderr).toContain('5100 units of u\\u{17f}d');
    }
    expect(till.paid).toEqual([]);
  });

  test.each([
    [{ decimals: 0 }],
    [{ decimals: -2 }],
    [{ decimals: '2' }],
    [{ decimals: null }],
    [{ methodDetails: { decimals: 0 } }],
  ])('pays nothing where dollars are counted otherwise than in cents: %j', async (request) => {
    till.mood.request = request;
    for (const flags of [
      ['--method', 'tempo', '--yes', '--max-pay', '$100', ...wallet(pays)],
      ['--method', 'tempo', '--yes', ...wallet(pays)],
      [],
    ]) {
      const ended = await order(...flags);
      expect(ended.code).toBe(6);
      expect(ended.stderr).toContain('counts US dollars in another unit than cents');
    }
    expect(till.paid).toEqual([]);
    till.mood.request = { decimals: 2 };
    expect((await order()).code).toBe(0);
  });

  test('is asked once: killed while it pays, the journal knows that nothing was sent', async () => {
    const line = [
      'agent',
      'order',
      'create',
      '--file',
      'order.json',
      '--idempotency-key',
      'k1',
      '--method',
      'tempo',
      '--yes',
    ];
    const child = spawn(
      join(workspace.folder, '.bin', 'errand'),
      [...line, ...wallet('echo here >&2; while [ -e order.json ]; do sleep 0.2; done')],
      {
        cwd: workspace.folder,
        env: workspace.environment,
        stdio: ['ignore', 'ignore', 'pipe'],
      },
    );
    await new Promise<void>((resolve) => {
      let seen = '';
      child.stderr.on('data', (chunk: Buffer) => {
        seen += chunk;
        if (seen.includes('here')) resolve();
      });
    });
    const meanwhile = await errand(workspace, [...line, ...wallet(pays)]);
    expect(meanwhile.code, meanwhile.stderr).toBe(5);
    child.kill('SIGKILL');
    await new Promise((resolve) => child.once('exit', resolve));
    expect(await journal()).toMatchObject([{ key: 'k1', state: 'intended' }]);
    const resumed = await errand(workspace, ['order', 'journal', 'resume', 'k1', '-o', 'json']);
    expect(resumed.code, resumed.stderr).toBe(6);
    expect(resumed.stderr).toContain('The wallet may have paid');
    expect(await journal()).toMatchObject([{ key: 'k1', state: 'refused' }]);
    expect(till.paid).toEqual([]);
  });

  test('that is interrupted by Ctrl-C leaves nothing in doubt', async () => {
    const line = ['agent', 'order', 'create', '--file', 'order.json', '--method', 'tempo', '--yes'];
    const begun = new Begun(workspace, [...line, '--pay-command', 'echo here >&2; sleep 600']);
    await begun.prints('here');
    begun.interrupt();
    expect((await begun.ended()).code).toBe(130);
    expect(await journal()).toMatchObject([{ state: 'refused' }]);
  });
});
