import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { cutLineTo, cutsOf } from '../../support/cut-line.ts';
import { installLocked } from '../../support/install-locked.ts';
import { orderBody } from '../../support/order-body.ts';
import { errand } from '../../support/run.ts';
import { TestService } from '../../support/service.ts';
import { makeWorkspace } from '../../support/workspace.ts';

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

  test('its client gets the order that it paid for by sending the payment again, wherever the response is cut', async () => {
    let made = 0;
    const service = await TestService.start({
      now: Date.now(),
      config: { paymentSchemes: ['x402'] },
      onRequest: ({ status }) => {
        if (status === 201) made += 1;
      },
    });
    onTestFinished(() => service.stop());
    const line = await cutLineTo(service.baseUrl);
    const body = JSON.stringify(orderBody(service.product('test-success')));
    const buy = async (orders: number) => {
      const args = [join(folder, 'buyer.js'), `${line.url}/agent/orders`, body, `${orders}`];
      return JSON.parse((await run(process.execPath, args)).stdout);
    };
    made = 0;
    expect(await buy(1)).toMatchObject([{ asked: 402, made: 201, again: 409 }]);
    const cuts = cutsOf(line.answer);
    line.cuts.push(...cuts);
    const bought: { readonly existing: string }[] = await buy(cuts.length);
    expect(bought).toEqual(
      cuts.map(() => expect.objectContaining({ asked: 402, again: 409, settledAgain: expect.anything() })),
    );
    expect([line.cuts, bought.filter((one) => 'made' in one)]).toEqual([[], []]);
    expect(new Set(bought.map(({ existing }) => existing)).size).toBe(cuts.length);
    expect([made, line.payments.size]).toEqual([cuts.length + 1, cuts.length + 1]);
  });

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
