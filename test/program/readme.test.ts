import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { errand, shell } from './run.ts';
import { makeWorkspace } from './workspace.ts';

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
const blocks = [...readme.matchAll(/```sh\n(.*?)```/gs)].map(([, block = '']) => block);

describe('the README', () => {
  test('begins with exactly two commands, each whole on a fresh machine', () => {
    const first = [...readme.matchAll(/```\n(.*?)\n```/gs)].slice(0, 2).map(([, line]) => line);
    expect(first).toEqual(['npm ci && npx errand quickstart', 'npm ci && npm test']);
  });

  test('every line of its sh blocks runs as it stands, in order', { timeout: 120_000 }, async () => {
    const workspace = makeWorkspace();
    try {
      await errand(workspace, ['config', 'set', 'sandbox-speed', '20']);
      for (const block of blocks) {
        const { code, stdout, stderr } = await shell(workspace, `set -e\n${block}`, { timeoutMs: 60_000 });
        expect(code, `${block}\n${stdout}${stderr}`).toBe(0);
      }
    } finally {
      workspace.remove();
    }
  });
});
