import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Journal } from '../../../src/journal/journal.ts';
import { baseUrl, intent as byAccount, paidIntent as intent, openJournal } from '../../support/intents.ts';

const secret = 'Payment eyJhIjoxfQ';
const now = Date.parse('2026-03-01T12:00:00Z');

describe('payments in the journal', () => {
  let folder: string;
  let journal: Journal;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'errand-payments-'));
    journal = await openJournal(folder, () => now);
    await journal.record(intent('k1'));
  });
  afterEach(async () => {
    await journal.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test('what pays is there for who resumes, and in no record that is shown', async () => {
    await journal.saveCredential('k1', baseUrl, secret);
    expect(journal.credentialOf('k1', baseUrl)).toBe(secret);
    expect(journal.get('k1', baseUrl).payment).toMatchObject({ method: 'sandbox', amount: '5100' });
    expect(JSON.stringify(journal.list(true))).not.toContain('eyJ');
  });

  test.each([
    ['responded', () => journal.respond('k1', baseUrl, 'o1')],
    ['refused', () => journal.refuse('k1', baseUrl, { code: 'payment_failed', message: 'no' })],
    ['forgotten', () => journal.forget('k1', baseUrl)],
  ])('what paid is gone once the intent is %s', async (state, end) => {
    await journal.saveCredential('k1', baseUrl, secret);
    await end();
    expect(journal.get('k1', baseUrl).state).toBe(state);
    expect(journal.credentialOf('k1', baseUrl)).toBeUndefined();
  });

  test('an intent that may have been paid, or was, is not recorded to be paid again', async () => {
    await journal.saveCredential('k1', baseUrl, secret);
    await expect(journal.record(intent('k1'))).rejects.toThrow(/is in doubt; it is not paid for again/);
    expect(journal.credentialOf('k1', baseUrl)).toBe(secret);
    await journal.respond('k1', baseUrl, 'o1');
    await expect(journal.record(intent('k1'))).rejects.toThrow(/has led to the order o1/);
  });

  test('one that bought nothing may be paid for anew', async () => {
    await journal.refuse('k1', baseUrl, { code: 'payment_failed', message: 'no' });
    expect(await journal.record(intent('k1'))).toEqual({ mayBeSent: false });
  });

  test('an order of an account is no twin of one that is paid for, and cannot take its key', async () => {
    const rule = { repeatedSince: 0 };
    expect(await journal.record(intent('k2'), rule)).toMatchObject({
      duplicate: { situation: 'in_doubt', record: { key: 'k1' } },
    });
    expect(await journal.record(byAccount('k2'), rule)).toEqual({ mayBeSent: false });
    await expect(journal.record(byAccount('k1'))).rejects.toThrow(/is in doubt for another order/);
  });

  test('key and receipt stay with the order at its service, also when it is told of again', async () => {
    const receipt = {
      method: 'sandbox',
      reference: 'r1',
      status: 'success',
      timestamp: '2026-03-01T12:00:00Z',
    };
    await journal.respond('k1', baseUrl, 'o1', { apiKey: 'xx_test_1', receipt });
    await journal.respond('k1', baseUrl, 'o1', { apiKey: undefined, receipt: undefined });
    expect(journal.grants.of('o1', baseUrl)).toEqual({ apiKey: 'xx_test_1', receipt });
    expect(journal.grants.of('o1', 'https://elsewhere.example')).toBeUndefined();
  });
});
