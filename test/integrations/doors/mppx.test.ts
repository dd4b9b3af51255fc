import { execFile, spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { installLocked } from '../../support/install-locked.ts';
import { orderBody } from '../../support/order-body.ts';
import { errand } from '../../support/run.ts';
import { TestService } from '../../support/service.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';
import { paysOnceWhereverCut } from './lost-answers.ts';

const folder = fileURLToPath(new URL('./mppx/', import.meta.url));
const seller = join(folder, 'seller.js');
const buyer = join(folder, 'buyer.js');
const wallet = join(folder, 'wallet.js');
const run = promisify(execFile);

interface Seller {
  readonly url: string;
  readonly sales: unknown[];
}

/** Starts a service that sells through the SDK's server. */
function openSeller(): Promise<Seller> {
  const child = spawn(process.execPath, [seller], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill());
  const sales: unknown[] = [];
  return new Promise((resolve, reject) => {
    child.on('exit', (code) => reject(new Error(`the seller ended with ${code}`)));
    child.stdout.on('data', (chunk: Buffer) => {
      for (const line of chunk.toString().trim().split('\n')) {
        if (line.startsWith('http')) resolve({ url: line, sales });
        else sales.push(JSON.parse(line));
      }
    });
  });
}

describe('with the public SDK of the payment scheme', () => {
  let workspace: Workspace;
  beforeAll(async () => {
    workspace = makeWorkspace({ ERRAND_NO_INPUT: '1' }, { oddService: true });
    await installLocked(folder, 'mppx');
  });
  afterAll(() => workspace.remove());

  test('errand buys from its server: a read and an order, one of several methods on one header line', async () => {
    const { url, sales } = await openSeller();
    const body = JSON.stringify(orderBody('https://shop.example/1'));
    const found = await errand(workspace, ['agent', 'search', 'tea', '--base-url', url, '-o', 'json']);
    expect(found.code, found.stderr).toBe(0);
    expect(JSON.parse(found.stdout)).toEqual([{ url: 'https://shop.example/1', title: 'Tea' }]);
    const ordered = await errand(
      workspace,
      ['agent', 'order', 'create', '--file', '-', '--base-url', url, '-o', 'json'],
      { stdin: body },
    );
    expect(ordered.code, ordered.stderr).toBe(0);
    expect(JSON.parse(ordered.stdout)).toMatchObject({ status: 'pending', max_price: 5000 });
    expect(ordered.stderr).toMatch(/paid \$51\.00 by sandbox, receipt [0-9a-f-]{36}/);
    const payload = { type: 'sandbox', authorization: 'approve' };
    expect(sales).toEqual([
      { paid: '1', payload },
      { paid: '5100', payload },
    ]);
  });

  test('a wallet made with it pays for errand', async () => {
    const { url, sales } = await openSeller();
    const paid = await errand(workspace, [
      ...['agent', 'search', 'tea', '--base-url', url, '--method', 'token', '--yes'],
      ...['--pay-command', `'${process.execPath}' '${wallet}'`],
    ]);
    expect(paid.code, paid.stderr).toBe(0);
    expect(paid.stderr).toContain('A “fine” sale — café');
    expect(sales).toEqual([{ paid: '1', payload: { signature: '0x1' } }]);
  });

  test('its server refuses what a wallet pays wrongly, and errand says so', async () => {
    const { url, sales } = await openSeller();
    const refused = await errand(workspace, [
      ...['agent', 'search', 'tea', '--base-url', url, '--method', 'sandbox', '--yes'],
      ...['--pay-command', `printf '{"payload":{"type":"sandbox"}}'`],
    ]);
    expect(refused.code, refused.stderr).toBe(6);
    expect(sales).toEqual([]);
  });

  test('its client buys from the sandbox: the order, its receipt and its key', async () => {
    const service = await TestService.start({ now: Date.now() });
    onTestFinished(() => service.stop());
    const body = JSON.stringify(orderBody(service.product('test-success')));
    const bought = await run(process.execPath, [buyer, `${service.baseUrl}/agent/orders`, body]);
    const { status, receipt, key, body: order } = JSON.parse(bought.stdout);
    expect(status, bought.stdout).toBe(201);
    expect(receipt).toMatchObject({ method: 'sandbox', status: 'success' });
    expect((await service.send('GET', `/orders/${order.id}`, undefined, key)).status).toBe(200);
  });

  test('its client gets the order that it paid for by sending the payment again, wherever the response is cut', () =>
    paysOnceWhereverCut(join(folder, 'loser.js'), 'receipt'));

  test('its client reads the sandbox’s data by a query alone', async () => {
    const service = await TestService.start({ now: Date.now() });
    onTestFinished(() => service.stop());
    const bought = await run(process.execPath, [buyer, `${service.baseUrl}/agent/search?q=coffee&limit=1`]);
    const { status, payments, body } = JSON.parse(bought.stdout);
    expect([status, payments, body.results.length], bought.stdout).toEqual([200, 1, 1]);
  });

  test('its client, which pays by itself, is asked once by a probe and told what is missing', async () => {
    const service = await TestService.start({ now: Date.now() });
    onTestFinished(() => service.stop());
    for (const path of ['/agent/orders', '/agent/search']) {
      const bought = await run(process.execPath, [buyer, `${service.baseUrl}${path}`]);
      const { status, payments } = JSON.parse(bought.stdout);
      expect([status, payments], bought.stdout).toEqual([422, 1]);
    }
  });
});
