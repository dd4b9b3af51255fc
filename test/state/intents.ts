import { spawnSync } from 'node:child_process';
import { expect } from 'vitest';
import { type Intent, paidAccount } from '../../src/state/journal-record.ts';

export const baseUrl = 'https://service.example';

/** An order as the journal gets it. */
export const intent = (key: string, max_price = 5000): Intent => ({
  key,
  keyOrigin: 'made',
  operation: 'order.create',
  profile: 'work',
  baseUrl,
  keyMasked: 'xx_test_…a1b2',
  account: 'a-fingerprint',
  body: { products: [{ url: 'https://shop.example/1' }], max_price, idempotency_key: key },
});

/** One that is paid by challenge. */
export const paidIntent = (key: string, max_price = 5000): Intent => ({
  ...intent(key, max_price),
  operation: 'agent.order.create',
  keyMasked: 'payment by sandbox',
  account: paidAccount,
  payment: { challenge_id: 'c1', method: 'sandbox', amount: '5100', currency: 'usd', expires: null },
});

/** Lets another process work on the journal of a folder, and die without a word. @param work with `journal` in scope. */
export function inAnotherProcess(folder: string, nowMs: number, work: string): void {
  const module = new URL('../../src/state/journal.ts', import.meta.url).href;
  const script = `const { Journal } = await import(${JSON.stringify(module)});
    const journal = await Journal.open(${JSON.stringify(folder)}, () => ${nowMs});
    ${work};
    process.kill(process.pid, 'SIGKILL');`;
  const node = ['--import', 'tsx', '--input-type=module', '-e', script];
  const { signal, stderr } = spawnSync(process.execPath, node, { encoding: 'utf8' });
  expect(signal, stderr).toBe('SIGKILL');
}

/** The same, recording one order. */
export const recordedElsewhere = (folder: string, nowMs: number, key: string, max_price = 5000): void =>
  inAnotherProcess(folder, nowMs, `await journal.record(${JSON.stringify(intent(key, max_price))})`);
