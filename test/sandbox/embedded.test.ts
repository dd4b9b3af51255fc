import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openEmbedded } from '../../src/sandbox/embedded.ts';

test('a request that was given up ends before the store is closed under it', async () => {
  const stateDir = mkdtempSync(join(tmpdir(), 'errand-'));
  onTestFinished(() => rmSync(stateDir, { recursive: true, force: true }));
  const bugs: unknown[] = [];
  const report = (error: unknown): void => void bugs.push(error);
  const sandbox = await openEmbedded({ stateDir, speed: 1, seed: undefined, now: Date.now, report });
  const minted = sandbox.handle({
    method: 'POST',
    target: '/sandbox/keys',
    headers: {},
    body: new Uint8Array(),
    remoteAddress: '127.0.0.1',
  });
  await sandbox.close();
  expect((await minted).status).toBe(201);
  expect(bugs).toEqual([]);
});
