import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { installLocked } from '../../support/install-locked.ts';
import { orderBody } from '../../support/order-body.ts';
import { errand } from '../../support/run.ts';
import { TestService } from '../../support/service.ts';
import { makeWorkspace } from '../../support/workspace.ts';
import { paysOnceWhereverCut } from './lost-answers.ts';

const folder = fileURLToPath(new URL('./x402/', import.meta.url));
const run = promisify(execFile);

describe('with the reference library of x402', () => {
  beforeAll(() => installLocked(folder, '@x402/core'));

  async function begin(): Promise<TestService> {
    const service = await TestService.start({ now: Date.now(), config: { paymentSchemes: ['x402'] } });
    onTestFinished(() => service.stop());
    return service;
  }

  test('its client buys from the sandbox, and a payment that is sent again makes no second order', async () => {
    const service = await begin();
    const body = JSON.stringify({ ...orderBody(service.product('test-success')), idempotency_key: 'k1' });
    const { stdout } = await run(process.execPath, [
      join(folder, 'buyer.js'),
      `${service.baseUrl}/agent/orders`,
      body,
    ]);
    const bought = JSON.parse(stdout);
    expect(bought).toMatchObject({ asked: 402, made: 201, again: 409, existing: bought.id });
    expect(bought.settled).toMatchObject({ success: true, network: 'eip155:84532' });
    expect(bought.settledAgain).toEqual(bought.settled);
  });

  test('its client gets the order that it paid for by sending the payment again, wherever the response is cut', () =>
    paysOnceWhereverCut(join(folder, 'buyer.js'), 'settledAgain', ['x402']));

  test('a wallet made with it pays for errand', async () => {
    const service = await begin();
    const workspace = makeWorkspace({ ERRAND_BASE_URL: service.baseUrl, ERRAND_NO_INPUT: '1' });
    onTestFinished(() => workspace.remove());
    writeFileSync(
      join(workspace.folder, 'order.json'),
      JSON.stringify(orderBody(service.product('test-success'))),
    );
    const asset = 'eip155:84532/0x036CbD53842c5426634e7929541eC2318f3dCF7e:6';
    expect((await errand(workspace, ['config', 'set', 'x402-assets', asset])).code).toBe(0);
    const paid = await errand(workspace, [
      ...['agent', 'order', 'create', '--file', 'order.json', '--yes'],
      ...['--pay-command', `'${process.execPath}' '${join(folder, 'wallet.js')}'`],
    ]);
    expect(paid.code, paid.stderr).toBe(0);
    expect(paid.stderr).toMatch(/paid \$51\.00 by x402, receipt pay_\w+/);
  });
});
