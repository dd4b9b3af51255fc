import { existsSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { shellLine, shellWord } from '../../../src/platform/shell.ts';
import { errand, shell } from '../../support/run.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

const hostile = [
  "a' b; touch pwned",
  '$(touch pwned)',
  '`touch pwned`',
  '"\u202e\n|& touch pwned',
  '=ls',
  '~root',
  '!!',
  '',
  '*',
  '\\',
];
let reply: { status: number; body: unknown };
const targets: string[] = [];
const server = createServer(({ method, url }, response) => {
  targets.push(`${method} ${url}`);
  response.writeHead(reply.status, { 'content-type': 'application/json' }).end(JSON.stringify(reply.body));
});
let workspace: Workspace;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  workspace = makeWorkspace({
    ERRAND_BASE_URL: `http://127.0.0.1:${port}`,
    ERRAND_API_KEY: 'zz_test_0123456789abcdef',
  });
});
afterAll(() => {
  server.close();
  workspace.remove();
});

describe('a word in a command that is suggested', () => {
  test.each(['bash', 'zsh'])('is for %s what it is, whatever it holds', async (name) => {
    for (const word of hostile) {
      const script = shellLine`printf %s ${word}`;
      const { stdout } = await shell(workspace, `${name} -c ${shellWord(script)}`);
      expect(stdout).toBe(word);
    }
    expect(existsSync(join(workspace.folder, 'pwned'))).toBe(false);
  });
});

describe('an id of the service is an id before anything is built from it', () => {
  const item = '6f1c2a52-7c3e-4f7e-9a55-0d6c1b1f2a3b';

  test.each(hostile.slice(0, 4))('%j as the return that is open already', async (identifier) => {
    reply = { status: 409, body: { code: 'already_exists', message: 'there', details: { identifier } } };
    targets.length = 0;
    const args = `return create --order ${item} --item ${item} --reason damaged`.split(' ');
    const { code, stderr } = await errand(workspace, args);
    expect([code, targets]).toEqual([5, ['POST /returns']]);
    expect(stderr).not.toMatch(/errand return get/);
  });

  test.each(hostile.slice(0, 4))('%j as a new account', async (short_id) => {
    reply = { status: 201, body: { short_id, email: 'a@b.example', retailer: 'x', has_totp: false } };
    const { code, stdout, stderr } = await shell(
      workspace,
      'echo hunter2hunter2 | errand account add --email a@b.example --retailer x --password-file -',
    );
    expect(code, stderr).not.toBe(0);
    expect(stdout + stderr).not.toContain('--account');
  });
});
