import { performance } from 'node:perf_hooks';
import { expect, test } from 'vitest';
import { tick } from '../../../../src/sandbox/control/tick.ts';
import { rowBody } from '../../../support/order-body.ts';
import { openStillSandbox } from '../../../support/still.ts';

test('rows that are due are placed one round after the other without a pause, though nobody asks', async () => {
  const sandbox = await openStillSandbox();
  const { store, config } = sandbox.service;
  const key = `Bearer ${(await sandbox.send('POST', '/sandbox/keys')).body.api_key}`;
  await sandbox.send('POST', '/sandbox/trigger', { event: 'wallet-funded', amount: 100_000_000 }, key);
  const rows = Array.from({ length: 2_500 }, () => rowBody(`${config.shopUrl}/test-success`));
  await sandbox.send('POST', '/orders/bulk', { rows }, key);
  sandbox.pass(60_000);
  const left = (): number =>
    Number(store.get('SELECT count(*) AS rows FROM batch_rows WHERE due IS NOT NULL')?.rows);
  const stop = tick(sandbox.service);
  await expect.poll(left, { interval: 20 }).toBeLessThan(2_500);
  const before = performance.eventLoopUtilization();
  await expect.poll(left, { interval: 20 }).toBe(0);
  // A pause between rounds would show up as idle time, however fast the machine.
  const { idle, active } = performance.eventLoopUtilization(before);
  expect(idle / (idle + active)).toBeLessThan(0.1);
  await stop();
  await sandbox.close();
  expect(sandbox.bugs).toEqual([]);
});
