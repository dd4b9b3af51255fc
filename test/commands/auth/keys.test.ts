import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { beginWithCopies } from '../../support/copies.ts';
import { errand } from '../../support/run.ts';
import { TestService } from '../../support/service.ts';
import type { Workspace } from '../../support/workspace.ts';

const here = 'http://127.0.0.1:9';
const secrets = ['0123456789abcdefghij', '1123456789abcdefklmn', '2123456789abcdefklmn'] as const;
const keys = secrets.map((secret) => `zz_test_${secret}`);
const [one = '', two = '', three = ''] = keys;

let workspace: Workspace;

beginWithCopies(
  (fresh) => errand(fresh, ['profile', 'set', 'work', '--base-url', here, '--use']),
  (copy) => {
    workspace = copy;
  },
);

const run = async (...args: string[]) => {
  const ended = await errand(workspace, args);
  for (const secret of secrets) expect(ended.stdout + ended.stderr).not.toContain(secret);
  return ended;
};
const store = (stdin: string) => errand(workspace, ['auth', 'token'], { stdin });
const list = async () => JSON.parse((await run('auth', 'list', '-o', 'json')).stdout);
const inUse = async () => (await list()).find(({ in_use }: { in_use: boolean }) => in_use)?.key;
const file = () => join(workspace.environment.ERRAND_CONFIG_DIR ?? '', 'config.json');

describe('the keys of a profile', () => {
  test('are listed masked, the newest first, with where and when they were stored, and lead on', async () => {
    for (const key of [one, two]) await store(key);
    const [used, other] = await list();
    expect(used).toMatchObject({
      key: 'zz_test_…klmn',
      profile: 'work',
      service: here,
      in_use: true,
      mode: 'test',
      next: [],
    });
    expect(other).toMatchObject({ key: 'zz_test_…ghij', in_use: false });
    expect(Math.abs(Date.parse(other.stored_at) - Date.now())).toBeLessThan(60_000);
    const [{ command }] = other.next;
    expect((await errand(workspace, command.split(' ').slice(1))).code).toBe(0);
    expect(await inUse()).toBe('zz_test_…ghij');
    expect(statSync(file()).mode & 0o777).toBe(0o600);
  });

  test.each(['ghij', 'zz_test_…ghij', 'zz_test_...ghij', '…ghij'])('are named as %s', async (name) => {
    for (const key of [one, two]) await store(key);
    expect((await run('auth', 'use', name)).code).toBe(0);
    expect(await inUse()).toBe('zz_test_…ghij');
  });

  test('that end alike are told apart by their ids, and never guessed', async () => {
    for (const key of [two, three, one]) await store(key);
    const unclear = await run('auth', 'use', 'klmn');
    expect(unclear).toMatchObject({ code: 2, stdout: '' });
    const ids = [...unclear.stderr.matchAll(/\(([0-9a-f]{8})\)/g)].map(([, id = '']) => id);
    expect(ids).toHaveLength(2);
    expect((await run('auth', 'use', ids[0]?.slice(0, 6) ?? '')).code).toBe(0);
    expect((await list())[0]).toMatchObject({ id: ids[0], in_use: true });
    expect(await inUse()).toBe('zz_test_…klmn');
  });

  test('are not named whole on the command line, known or not', async () => {
    await store(one);
    const known = await run('auth', 'use', one);
    expect(known).toMatchObject({ code: 2, stdout: '' });
    expect(known.stderr).toContain('a whole key does not belong on the command line');
    const unknown = await run('auth', 'use', two);
    expect(unknown).toMatchObject({ code: 2, stdout: '' });
    expect(unknown.stderr).toContain('profile work has no key zz_test_…klmn');
  });

  test('that several commands store at once are all kept', async () => {
    const many = Array.from(
      { length: 6 },
      (_, index) => `zz_test_${index}abcdefghijklmnop${index}${index}${index}${index}`,
    );
    const stored = await Promise.all(many.map(store));
    expect(stored.map(({ code }) => code)).toEqual(many.map(() => 0));
    const found = (await list()).map(({ key }: { key: string }) => key.slice(-4));
    expect(found.toSorted()).toEqual(many.map((key) => key.slice(-4)).toSorted());
    expect((await list()).filter(({ in_use }: { in_use: boolean }) => in_use)).toHaveLength(1);
  });

  test('are forgotten one at a time, or all with --all', async () => {
    for (const key of keys) await store(key);
    const first = await run('auth', 'logout');
    expect(first.stderr).toContain('forgot the key in use of profile work');
    expect(first.stderr).toContain('2 other keys are kept');
    expect(await inUse()).toBeUndefined();
    expect(await list()).toHaveLength(2);
    await run('auth', 'use', 'ghij');
    expect((await run('auth', 'logout', '--all')).stderr).toContain('forgot the keys of profile work');
    expect(await list()).toEqual([]);
    expect(readFileSync(file(), 'utf8')).not.toMatch(/zz_test_/);
    const changes = JSON.parse((await run('audit', 'log', '--kind', 'key', '-o', 'json')).stdout);
    expect(changes.map(({ detail }: { detail: { change: string } }) => detail.change)).toEqual([
      ...['stored', 'switched', 'switched', 'forgotten', 'stored', 'forgotten', 'forgotten'],
    ]);
  });

  test('go with their address: another one drops them all, where that is meant', async () => {
    for (const key of [one, two]) await store(key);
    await run('auth', 'logout');
    const refused = await run('profile', 'set', 'work', '--base-url', 'http://127.0.0.1:10');
    expect(refused.code).toBe(2);
    expect(await list()).toHaveLength(1);
    await run('profile', 'set', 'work', '--base-url', 'http://127.0.0.1:10', '--replace');
    expect(await list()).toEqual([]);
  });

  test('that an earlier version stored have no time, and a broken list of them is named', async () => {
    const config = { profiles: { work: { base_url: here, api_key: one } }, current_profile: 'work' };
    writeFileSync(file(), JSON.stringify(config));
    expect(await list()).toMatchObject([{ key: 'zz_test_…ghij', stored_at: null }]);
    await store(two);
    expect(await list()).toMatchObject([{ key: 'zz_test_…klmn' }, { key: 'zz_test_…ghij', stored_at: null }]);
    Object.assign(config.profiles.work, { other_keys: [{ key: two }] });
    writeFileSync(file(), JSON.stringify(config));
    const broken = await run('auth', 'list');
    expect(broken.code).toBe(2);
    expect(broken.stderr).toContain('is wrong at profiles.work.other_keys.0.api_key: it takes a text');
  });
});

test('an order in doubt that was sent with a kept key says how that one is used again', async () => {
  const service = await TestService.start({ now: Date.now() });
  try {
    await errand(workspace, ['profile', 'set', 'served', '--base-url', service.baseUrl, '--use']);
    await errand(workspace, ['sandbox', 'mint']);
    await errand(workspace, ['sandbox', 'fault', 'reset-after@POST /orders']);
    const order = ['order', 'create', '--product', service.product('test-slow'), '--max-price', '$50'];
    const lost = await errand(workspace, [...order, '--ship-to', 'home', '--retries', '0']);
    expect(lost.code, lost.stderr).toBe(10);
    await errand(workspace, ['sandbox', 'fault', '--off']);
    await errand(workspace, ['sandbox', 'mint']);
    const other = await errand(workspace, ['order', 'journal', 'resume', '--all']);
    const [, back = ''] = /resume it with that one: errand (auth use .*)/.exec(other.stderr) ?? [];
    expect((await errand(workspace, back.split(' '))).code, other.stderr).toBe(0);
    const settled = await errand(workspace, ['order', 'journal', 'resume', '--all', '-o', 'id']);
    expect([settled.code, settled.stdout.trim()]).toEqual([
      0,
      (await errand(workspace, ['order', 'list', '-o', 'id'])).stdout.trim(),
    ]);
  } finally {
    await service.stop();
  }
});
