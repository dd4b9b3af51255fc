import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { TestService } from '../../support/service.ts';

const day = 24 * 3600 * 1000;

describe('keys', () => {
  let folder: string;
  let service: TestService;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'errand-keys-'));
    service = await TestService.start({ file: join(folder, 'sandbox.db'), config: { mintLimitPerDay: 4 } });
  });
  afterEach(async () => {
    await service.stop();
    rmSync(folder, { recursive: true });
  });

  test('a minted key works, and its text is nowhere in the store', async () => {
    expect((await service.send('GET', '/wallet/me')).body.balance).toBe(100_000);
    const files = ['sandbox.db', 'sandbox.db-wal'].map((name) => readFileSync(join(folder, name), 'latin1'));
    expect(files.join('')).not.toContain(service.key);
  });

  test('the example order of a minted key is one that POST /orders takes', async () => {
    const { body } = await service.send('POST', '/sandbox/keys', undefined, null);
    expect((await service.send('POST', '/orders', body.example_order, body.api_key)).status).toBe(201);
  });

  test('a key expires after 7 days without use, and each use puts that off', async () => {
    service.pass(6 * day);
    expect((await service.send('GET', '/wallet/me')).status).toBe(200);
    service.pass(6 * day);
    expect((await service.send('GET', '/wallet/me')).status).toBe(200);
    service.pass(7 * day + 60_000);
    expect(await service.send('GET', '/wallet/me')).toMatchObject({
      status: 401,
      body: { code: 'token_expired' },
    });
  });

  test('a few mints a day for each address, then 429 with Retry-After', async () => {
    for (let minted = 1; minted < 4; minted += 1) await service.mint();
    const refused = await service.send('POST', '/sandbox/keys', undefined, null);
    expect(refused).toMatchObject({ status: 429, body: { code: 'rate_limit_exceeded' } });
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    service.pass(day);
    expect((await service.send('POST', '/sandbox/keys', undefined, null)).status).toBe(201);
  });

  test.each([
    ['no header', null, {}, 'unauthorized'],
    ['another scheme', null, { authorization: 'Digest abc' }, 'unauthorized'],
    ['an unknown key', 'sbx_test_unknown', {}, 'invalid_token'],
    ['a live key', 'sbx_live_abcdefgh', {}, 'invalid_token'],
  ])('%s: 401 %s', async (_, key, headers, code) => {
    expect(await service.send('GET', '/orders', undefined, key, headers)).toMatchObject({
      status: 401,
      body: { code },
    });
  });

  test('GET /sandbox/status tells that nobody has claimed it', async () => {
    expect((await service.send('GET', '/sandbox/status')).body).toMatchObject({
      claimed: false,
      claimed_by_email: null,
    });
  });

  test('usage counts real calls', async () => {
    await service.send('GET', '/search?q=coffee');
    service.pass(2.4 * day);
    await service.send('GET', '/search?q=tea&retailer=harborgoods');
    const { body } = await service.send('GET', '/usage?window_days=7');
    expect(body.metrics.search).toMatchObject({ total: 2, prev_total: 0, series: [0, 0, 0, 0, 1, 0, 1] });
    expect(body.recent[0]).toMatchObject({ query: 'tea', retailer: 'harborgoods' });
  });
});
