import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { json, peer, reset } from '../http/peer.ts';
import { orderBody } from '../service/service.ts';
import { makePlace } from './place.ts';
import { errand } from './run.ts';

test('an order in doubt that is refused when it is resumed is told as that, with the way out', {
  timeout: 30_000,
}, async () => {
  const short = { code: 'insufficient_funds', message: 'The wallet is empty.', details: {} };
  const service = await peer(reset, json(short, 402));
  const place = makePlace({ ERRAND_BASE_URL: service.url, ERRAND_API_KEY: 'xx_test_0123456789abcdef0123' });
  onTestFinished(place.remove);
  writeFileSync(join(place.folder, 'order.json'), JSON.stringify(orderBody('https://shop.example/1')));
  const args = ['order', 'create', '--file', 'order.json', '--idempotency-key', 'k1', '--retries', '0'];
  const first = await errand(place, args);
  expect(first).toMatchObject({ code: 10, stderr: expect.stringContaining('sent and no answer came') });
  const again = await errand(place, ['order', 'journal', 'resume', 'k1', '-o', 'json']);
  expect(again.code).toBe(10);
  const { error } = JSON.parse(again.stderr);
  expect(error.message).toContain('may have been made by an earlier try, and is refused now');
  expect(error.next).toMatchObject([
    { command: 'errand order list' },
    { command: 'errand order journal forget k1' },
  ]);
});
