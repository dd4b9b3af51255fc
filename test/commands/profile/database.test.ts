import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { errand } from '../../support/run.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

const secret = 'hunter22-of-the-team';
const address = `postgres://me:${secret}@127.0.0.1:1/team`;
let workspace: Workspace;

beforeEach(() => {
  workspace = makeWorkspace();
});
afterEach(() => workspace.remove());

const run = (line: string, stdin?: string) =>
  errand(workspace, line.split(' '), stdin === undefined ? {} : { stdin });

describe('the database of a profile', () => {
  test('is stored from stdin in a private file, shown without its password, and forgotten', async () => {
    await run('profile set work --base-url http://127.0.0.1:9');
    const stored = await run('profile database work', `${address}\n`);
    expect(stored).toMatchObject({
      code: 0,
      stdout: '',
      stderr: 'profile work shares 127.0.0.1:1/team; `errand doctor` looks at it\n',
    });
    const file = join(workspace.folder, '.config/config.json');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).toContain(address);
    const listed = await run('profile list -o json');
    expect(JSON.parse(listed.stdout)).toContainEqual(
      expect.objectContaining({ database: '127.0.0.1:1/team' }),
    );
    const path = await run('config path --profile work -o json');
    expect(JSON.parse(path.stdout).database).toEqual({
      address: '127.0.0.1:1/team',
      from: 'profile',
      name: 'work',
    });
    expect((await run('config path --profile work')).stdout).toMatch(/^named by +profile work$/m);
    const doctor = await run('doctor --profile work --debug');
    for (const { stdout, stderr } of [stored, listed, path, doctor])
      expect(stdout + stderr).not.toContain(secret);
    await run('profile database work --forget');
    expect(readFileSync(file, 'utf8')).not.toContain(secret);
    expect(JSON.parse((await run('config path --profile work -o json')).stdout).database).toBeNull();
  });

  test('stays with the profile when its address changes', async () => {
    await run('profile set work --base-url http://127.0.0.1:9');
    await run('profile database work', address);
    await run('profile set work --base-url http://127.0.0.1:8');
    expect((await run('config path --profile work')).stdout).toContain('127.0.0.1:1/team');
  });

  test('a wrong one is refused by name, and nothing of it is told or stored', async () => {
    const refused = await run('profile database', `mysql://me:${secret}@127.0.0.1/team`);
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr.split('\n')[0]).toBe(
      'error: stdin is not the address of a PostgreSQL database: it takes postgres://<user>:<password>@<host>:<port>/<database>',
    );
    expect(refused.stderr).not.toContain(secret);
    expect((await run('profile database', '')).stderr).toContain('stdin is empty: it takes postgres://');
    expect((await run('profile database nobody', address)).stderr).toContain('there is no profile "nobody"');
    expect((await run('profile list')).stdout).not.toContain('127.0.0.1');
  });

  test('the variable goes before it, and says so; a wrong one is refused whatever the command', async () => {
    workspace.environment.ERRAND_DATABASE_URL = `postgres://me:${secret}@127.0.0.1:2/other`;
    const { stderr } = await run('profile database local', address);
    expect(stderr).toContain('ERRAND_DATABASE_URL is set and goes before it');
    expect((await run('config path')).stdout).toContain('127.0.0.1:2/other');
    workspace.environment.ERRAND_DATABASE_URL = `postgres://me:${secret}@/team`;
    const refused = await run('order list -o json');
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(JSON.parse(refused.stderr).error.message).toContain('ERRAND_DATABASE_URL is not the address');
    expect(refused.stderr).not.toContain(secret);
    const doctor = await run('doctor');
    expect(doctor.code).toBe(7);
    expect(doctor.stdout).toContain('ERRAND_DATABASE_URL is not the address');
    expect(doctor.stdout + doctor.stderr).not.toContain(secret);
  });
});
