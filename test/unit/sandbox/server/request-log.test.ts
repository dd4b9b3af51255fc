import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, test } from 'vitest';
import { findRoute } from '../../../../src/sandbox/routes.ts';
import { RequestLog } from '../../../../src/sandbox/server/request-log.ts';

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

test('a thousand of the longest targets take little memory', () => {
  const log = new RequestLog(findRoute);
  const heap = (): number => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const before = heap();
  for (let index = 0; index < 1000; index += 1) {
    // Like a string from a socket: allocated in one piece.
    const target = Buffer.from(`/${index}?${'a'.repeat(31_000)}`).toString('latin1');
    log.begin({ at: 0, method: 'GET', target, headers: {}, fault: undefined }).done(null);
  }
  expect(heap() - before).toBeLessThan(8_000_000);
  expect(log.latest(1)[0]?.request.target).toBe(`/999?${'a'.repeat(295)}`);
});
