import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { loadSqlite } from '../../../src/platform/sqlite/load.ts';
import { type Cut, cutLineTo, cutsOf } from '../../support/cut-line.ts';
import { orderBody } from '../../support/order-body.ts';
import { errand } from '../../support/run.ts';
import { TestService } from '../../support/service.ts';
import { makeWorkspace } from '../../support/workspace.ts';

/** Signs with a nonce of its own each time: to be asked twice is to pay twice. */
const wallet = `
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
const { accepts, request } = JSON.parse(readFileSync(0, 'utf8'));
const nonce = '0x' + randomBytes(32).toString('hex');
if (!accepts) console.log(JSON.stringify({ payload: { type: 'hash', hash: nonce } }));
else {
  const [{ payTo: to, amount: value, maxTimeoutSeconds }] = accepts;
  const now = Math.floor(Date.now() / 1000);
  const authorization = {
    ...{ from: '0x' + '1'.repeat(40), to, value, nonce },
    ...{ validAfter: String(now - 60), validBefore: String(now + maxTimeoutSeconds) },
  };
  console.log(JSON.stringify({ payload: { signature: '0xab', authorization } }));
}`;

test.each([
  ['mpp', 'tempo'],
  ['x402', 'x402'],
] as const)(
  'by %s, wherever the answer to a payment is cut, the same command pays once for one order',
  async (scheme, method) => {
    const workspace = makeWorkspace({ ERRAND_NO_INPUT: '1' });
    const file = join(workspace.folder, 'sandbox.db');
    const started = Date.now();
    const service = await TestService.start({ file, now: started, config: { paymentSchemes: [scheme] } });
    onTestFinished(async () => {
      await service.stop();
      workspace.remove();
    });
    const line = await cutLineTo(service.baseUrl);
    workspace.environment.ERRAND_BASE_URL = line.url;
    const body = JSON.stringify(orderBody(service.product('test-success')));
    writeFileSync(join(workspace.folder, 'order.json'), body);
    writeFileSync(join(workspace.folder, 'wallet.mjs'), wallet);
    const assets = 'eip155:84532/0x036cbd53842c5426634e7929541ec2318f3dcf7e:6';
    expect((await errand(workspace, ['config', 'set', 'x402-assets', assets])).code).toBe(0);

    let orders = 0;
    const order = () =>
      errand(workspace, [
        ...['agent', 'order', 'create', '--file', 'order.json', '--retries', '0', '-o', 'id'],
        ...['--reference', `need-${String(orders).padStart(4, '0')}`],
        ...['--method', method, '--yes', '--pay-command', `'${process.execPath}' wallet.mjs`],
      ]);
    let now = started;
    /** Orders with the line cut, then again with a whole one. */
    const loses = async (cut: Cut): Promise<void> => {
      orders += 1;
      // Offers expire by the clock of the service, and are signed by that of this machine.
      service.pass(Date.now() - now);
      now = Date.now();
      const name = `${cut.of}-${cut.after}`;
      line.cuts.push(cut);
      const lost = await order();
      expect([lost.code, lost.stdout, line.cuts], `${name}: ${lost.stderr}`).toEqual([10, '', []]);
      const again = await order();
      expect(again.code, `${name}: ${again.stderr}`).toBe(0);
      expect(again.stdout, name).toMatch(/^[0-9a-f-]{36}\n$/);
      expect(line.payments.size, name).toBe(orders);
    };

    for (const after of [0, 1, 40, 400, 900]) await loses({ of: 'request', after });
    orders += 1;
    expect((await order()).code).toBe(0);
    for (const cut of cutsOf(line.answer)) await loses(cut);

    const Database = loadSqlite();
    const books = new Database(file);
    onTestFinished(() => books.close());
    const ids = new Set(
      books
        .prepare('SELECT order_id FROM payments')
        .all()
        .map((row) => Object(row).order_id),
    );
    expect(ids.size).toBe(orders);
    for (const table of ['orders', 'payments'])
      expect(books.prepare(`SELECT count(*) AS n FROM ${table}`).get(), table).toMatchObject({ n: orders });
    expect((await errand(workspace, ['order', 'journal', 'list', '-o', 'id'])).stdout).toBe('');
    expect((await errand(workspace, ['audit', 'verify'])).code).toBe(0);
  },
);
