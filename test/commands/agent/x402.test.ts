import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { PaymentScheme } from '../../../src/sandbox/config.ts';
import { orderBody } from '../../support/order-body.ts';
import { errand, type Finished } from '../../support/run.ts';
import { TestService } from '../../support/service.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

const dollars = 'eip155:84532/0x036cbd53842c5426634e7929541ec2318f3dcf7e:6';

let service: TestService;
let workspace: Workspace;

/** Signs what it is told to, with a nonce of its own each time, and writes down what it was given. */
const wallet = `
import { appendFileSync, readFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
const given = readFileSync(0, 'utf8');
appendFileSync('signed', given);
const [accepted] = JSON.parse(given).accepts;
const now = Math.floor(Date.now() / 1000);
const authorization = {
  from: '0x' + '1'.repeat(40), to: accepted.payTo, value: accepted.amount,
  validAfter: String(now - 60), validBefore: String(now + accepted.maxTimeoutSeconds),
  nonce: '0x' + randomBytes(32).toString('hex'),
};
console.log(JSON.stringify({ payload: { signature: '0xab', authorization } }));
`;

beforeEach(async () => {
  made = 0;
  service = await start(['x402']);
  workspace = makeWorkspace({ ERRAND_BASE_URL: service.baseUrl, ERRAND_NO_INPUT: '1' });
  onTestFinished(async () => {
    workspace.remove();
    await service.stop();
  });
  writeFileSync(
    join(workspace.folder, 'order.json'),
    JSON.stringify(orderBody(service.product('test-slow'))),
  );
  writeFileSync(join(workspace.folder, 'wallet.mjs'), wallet);
});

const configure = async (assets = dollars): Promise<void> => {
  const { code, stderr } = await errand(workspace, ['config', 'set', 'x402-assets', assets]);
  expect(code, stderr).toBe(0);
};
const paying = ['--yes', '--pay-command', `'${process.execPath}' wallet.mjs`];
const order = (...more: readonly string[]): Promise<Finished> =>
  errand(workspace, ['agent', 'order', 'create', '--file', 'order.json', '--retries', '0', ...more]);
const signed = (): string[] => {
  try {
    return readFileSync(join(workspace.folder, 'signed'), 'utf8').trim().split('\n');
  } catch {
    return [];
  }
};
/** Orders that the service has made. */
let made: number;
const start = async (paymentSchemes: readonly PaymentScheme[]): Promise<TestService> =>
  TestService.start({
    now: Date.now(),
    config: { paymentSchemes },
    onRequest: ({ target, status }) => {
      if (target.startsWith('/agent/orders') && status === 201) made += 1;
    },
  });
const failure = ({ stderr }: Finished) =>
  JSON.parse(stderr.split('\n').findLast((text) => text.startsWith('{')) ?? '{}').error;

describe('a payment by x402', () => {
  test('is shown in dollars, made once, and told with its receipt', async () => {
    await configure();
    const { code, stdout, stderr } = await order(...paying, '-o', 'json');
    expect(code, stderr).toBe(0);
    expect(stderr).toContain('  pay      $51.00\n  to       0x0000000000000000000000000000000000000402\n');
    expect(stderr).toContain('  asset    0x036CbD53842c5426634e7929541eC2318f3dCF7e on eip155:84532\n');
    expect(stderr).toMatch(/paid \$51\.00 by x402, receipt pay_\w+/);
    expect(JSON.parse(signed()[0] ?? '')).toMatchObject({
      x402Version: 2,
      accepts: [{ scheme: 'exact', network: 'eip155:84532', amount: '51000000' }],
    });
    const { id } = JSON.parse(stdout);
    const receipt = await errand(workspace, ['agent', 'order', 'receipt', id, '-o', 'json']);
    expect(JSON.parse(receipt.stdout)).toMatchObject({ method: 'x402', status: 'success' });
    expect((await errand(workspace, ['audit', 'verify'])).code).toBe(0);
  });

  test.each([
    ['nothing is configured', undefined],
    ['another asset is', 'eip155:84532/0x0000000000000000000000000000000000000001:6'],
    ['another network is', dollars.replace('84532', '8453')],
  ])('is not made where %s', async (_, assets) => {
    if (assets !== undefined) await configure(assets);
    const ended = await order(...paying, '-o', 'json');
    expect([ended.code, failure(ended)], ended.stderr).toEqual([
      6,
      expect.objectContaining({
        code: 'payment_method_required',
        outcome: 'not_sent',
        message: expect.stringContaining(
          'by x402 in eip155:84532/0x036CbD53842c5426634e7929541eC2318f3dCF7e, which x402-assets does not name',
        ),
      }),
    ]);
    expect([signed(), made]).toEqual([[], 0]);
  });

  test('counts decimals as they are configured, so that a cap holds', async () => {
    await configure(dollars.replace(/6$/, '5'));
    const dear = await order(...paying, '-o', 'json');
    expect([dear.code, failure(dear).message]).toEqual([6, expect.stringContaining('asks for $510.00')]);
    await configure(dollars.replace(/6$/, '8'));
    expect((await order(...paying, '--max-pay', '$0.50', '-o', 'json')).code).toBe(6);
    expect(signed()).toEqual([]);
  });

  test('is refused if the wallet signs for another offer, or prints something else', async () => {
    await configure();
    for (const printed of [
      '',
      'no',
      '{"x402Version":1,"payload":{}}',
      '{"accepted":{"amount":"1"},"payload":{}}',
    ]) {
      const ended = await order(
        '--yes',
        '--pay-command',
        `cat >/dev/null; printf '%s' '${printed}'`,
        '-o',
        'json',
      );
      expect([ended.code, failure(ended).outcome], ended.stderr).toEqual([6, 'not_sent']);
    }
    expect(made).toBe(0);
  });

  test('of two schemes is the one that --method names', async () => {
    await service.stop();
    service = await start(['mpp', 'x402']);
    workspace.environment.ERRAND_BASE_URL = service.baseUrl;
    await configure();
    const free = await order('-o', 'json');
    expect([free.code, free.stderr]).toEqual([0, expect.stringContaining('by sandbox')]);
    const paid = await order(...paying, '--method', 'x402', '--new', '-o', 'json');
    expect([paid.code, paid.stderr]).toEqual([0, expect.stringContaining('paid $51.00 by x402')]);
    expect(signed()).toHaveLength(1);
  });
});
