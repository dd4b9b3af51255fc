import { expect, test } from 'vitest';
import { isIntact, newIntent, withChecksum } from '../../../src/journal/intent-row.ts';

const intent = {
  key: 'k-1',
  baseUrl: 'http://127.0.0.1:4848',
  operation: 'bulk.create',
  profile: 'default',
  keyMasked: 'key_…1',
  account: 'a',
  keyOrigin: 'made',
  body: { filename: 'orders.csv', rows: [{ name: 'Ada "B" \\ Byron', city: 'Zürich' }] },
} as const;

test('the checksum of a row is the one that earlier versions have written', () => {
  const row = newIntent(intent, 'c0ffee', { pid: 7, started: '9' }, '2026-03-01T12:00:00.000Z');
  expect(row.checksum).toBe('fe6ef5d8be9b845e0180d7bbe2d12fc1');
});

test('a row is intact as long as nothing of it is changed, whichever row was looked at before', () => {
  const at = '2026-03-01T12:00:00.000Z';
  const one = newIntent(intent, 'c0ffee', { pid: 7, started: '9' }, at);
  const other = newIntent({ ...intent, body: { rows: [] } }, 'c0ffee', { pid: 7, started: '9' }, at);
  expect([one, other, withChecksum({ ...one, live: 1 })].every(isIntact)).toBe(true);
  expect(isIntact({ ...one, body: other.body })).toBe(false);
  expect(isIntact({ ...one, state: 'reported' })).toBe(false);
});
