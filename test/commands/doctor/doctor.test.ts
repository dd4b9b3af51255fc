import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { contractVersion } from '../../../src/api/version.ts';
import { service } from '../../../src/commands/doctor/checks/service.ts';
import { loadSqlite } from '../../../src/platform/sqlite/load.ts';
import { peer, reset } from '../../support/peer.ts';
import { embeddedShop, errand, shell } from '../../support/run.ts';
import { TestService } from '../../support/service.ts';
import { installedFile, makeWorkspace, type Workspace } from '../../support/workspace.ts';

interface Found {
  readonly check: string;
  readonly status: string;
  readonly message: string;
  readonly remedy: string | null;
}

describe('errand doctor', () => {
  let workspace: Workspace;

  beforeEach(() => {
    workspace = makeWorkspace();
    mkdirSync(join(workspace.folder, '.config'), { mode: 0o700 });
    mkdirSync(join(workspace.folder, '.state'), { mode: 0o700 });
  });

  afterEach(() => workspace.remove());

  /** Findings and exit code of one run. */
  async function examined(...flags: string[]) {
    const { code, stdout } = await errand(workspace, ['doctor', '-o', 'json', ...flags]);
    const all: Found[] = JSON.parse(stdout);
    // A busy machine makes any service slow.
    const found = all.filter(({ message }) => !message.includes('is slow: '));
    const isSlow = found.length < all.length;
    return {
      code: isSlow && code === 7 && !found.some(({ status }) => status === 'trouble') ? 0 : code,
      checks: [...new Set(found.map(({ check }) => check))],
      troubles: found.filter(({ status }) => status === 'trouble').map(({ check }) => check),
      of: (check: string) => found.filter((it) => it.check === check),
    };
  }

  function configure(text: string, mode = 0o600): void {
    const file = join(workspace.folder, '.config', 'config.json');
    writeFileSync(file, text);
    chmodSync(file, mode);
  }

  test('on a fresh machine all is well, and nothing is minted', async () => {
    const { code, troubles, of } = await examined();
    expect({ code, troubles }).toEqual({ code: 0, troubles: [] });
    expect(of('key')[0]?.message).toMatch(/none yet/);
    expect(of('contract')[0]?.message).toContain(contractVersion);
  });

  test('at a served sandbox with a key all is well', async () => {
    const served = await TestService.start({ now: Date.now() });
    try {
      workspace.environment.ERRAND_BASE_URL = served.baseUrl;
      workspace.environment.ERRAND_API_KEY = served.key;
      const { code, troubles, of } = await examined();
      expect({ code, troubles }).toEqual({ code: 0, troubles: [] });
      expect(of('clock')).toMatchObject([{ status: 'ok' }]);
      expect(of('key')).toMatchObject([{ status: 'ok' }]);
    } finally {
      await served.stop();
    }
  });

  test('every check runs though the configuration is not JSON, and the file stays', async () => {
    configure('{"profiles":');
    const well = (await examined('--base-url', 'embedded:')).checks;
    const { code, troubles, of, checks } = await examined();
    expect({ code, troubles }).toEqual({ code: 7, troubles: ['configuration'] });
    expect(of('configuration')[0]?.message).toMatch(/is not JSON/);
    expect(checks).toEqual(well);
    expect(readFileSync(join(workspace.folder, '.config', 'config.json'), 'utf8')).toBe('{"profiles":');
  });

  test('what the sandbox cannot bring about is named', async () => {
    const url = `${await embeddedShop()}test-success`;
    const create = [
      'order',
      'create',
      '--product',
      url,
      '--max-price',
      '$50',
      '--ship-to',
      'home',
      '-o',
      'id',
    ];
    const id = (await errand(workspace, create)).stdout.trim();
    const database = new (loadSqlite())(join(workspace.folder, '.state', 'sandbox.db'));
    // Simulates a newer errand whose state this one does not know.
    database.exec("UPDATE orders SET plan = json_set(plan, '$[0].kind', 'newer')");
    database.close();
    await errand(workspace, ['sandbox', 'advance', '1m']);
    const { code, of } = await examined();
    expect(code).toBe(7);
    expect(of('service')).toMatchObject([
      { status: 'ok' },
      {
        status: 'trouble',
        message: expect.stringContaining(id),
        remedy: expect.stringContaining('Update errand'),
      },
    ]);
  });

  test('names that nothing reads are told', async () => {
    configure(
      JSON.stringify({ profile: 'x', profiles: { local: { apikey: 'x' } }, preferences: { colour: true } }),
    );
    const { troubles, of } = await examined();
    expect(troubles).toEqual(['configuration']);
    expect(of('configuration')[0]?.message).toMatch(
      /: profile, preferences\.colour, profiles\.local\.apikey$/,
    );
  });

  test('modes that let others in are told, and mended', async () => {
    configure('{}', 0o644);
    chmodSync(join(workspace.folder, '.state'), 0o755);
    const { code, of } = await examined();
    expect(code).toBe(7);
    expect(of('permissions').map(({ message }) => message)).toEqual([
      expect.stringContaining('config.json can be used by others: its mode is 644'),
      expect.stringContaining('.state can be used by others: its mode is 755'),
    ]);
    expect(of('permissions')[1]?.remedy).toContain('Its mode is 700 now');
    expect(statSync(join(workspace.folder, '.state')).mode & 0o777).toBe(0o700);
  });

  test.each([
    [{ ERRAND_TIMEOUT: 'soon' }, /ERRAND_TIMEOUT/],
    [{ ERRAND_PROFILE: 'gone' }, /there is no profile "gone"/],
    [{ ERRAND_BASE_URL: 'http://service.example' }, /plain http/],
    [{ ERRAND_API_KEY: 'a b' }, /ERRAND_API_KEY holds spaces/],
  ])('a wrong setting is told, and the rest is looked at: %o', async (environment, expected) => {
    Object.assign(workspace.environment, environment);
    const { code, troubles, of } = await examined();
    expect({ code, troubles }).toEqual({ code: 7, troubles: ['settings'] });
    expect(of('settings')[0]?.message).toMatch(expected);
  });

  test('no key for a service, a key that it refuses, and one that hides another: each says how to get on', async () => {
    const refusing = await peer((response, { target }) => {
      response.writeHead(target === '/openapi.json' ? 404 : 401, { 'content-type': 'application/json' });
      response.end('{"error":{"code":"unauthorized","message":"no"}}');
    });
    configure(
      JSON.stringify({
        profiles: { local: { base_url: refusing.url, api_key: 'sbx_test_storedstoredstored' } },
      }),
    );
    workspace.environment.ERRAND_API_KEY = 'sbx_test_otherotherotherother';
    const { of } = await examined();
    expect(of('key')).toMatchObject([
      { status: 'trouble', remedy: expect.stringContaining('errand auth token') },
      { status: 'trouble', remedy: expect.stringContaining('Unset ERRAND_API_KEY') },
    ]);
    expect(JSON.stringify(of('key'))).not.toContain('storedstored');
    delete workspace.environment.ERRAND_API_KEY;
    workspace.environment.ERRAND_BASE_URL = `${refusing.url}/other`;
    expect((await examined()).of('key')[0]?.message).toMatch(/there is no key for/);
  });

  test('a service that does not respond, in seconds and with one request', async () => {
    workspace.environment.ERRAND_BASE_URL = 'http://127.0.0.1:9';
    const { code, of } = await examined();
    expect(code).toBe(7);
    expect(of('service')).toMatchObject([
      { status: 'trouble', message: expect.stringContaining('ERRAND_BASE_URL') },
    ]);
    expect([...of('clock'), ...of('contract')].map(({ status }) => status)).toEqual(['skipped', 'skipped']);
  });

  test('a slow service is trouble, a quick one is not', async () => {
    const settings = {
      baseUrl: { value: 'https://x.example', name: 'work', from: 'profile' },
      profile: { value: 'work' },
    };
    const at = (durationMs: number) =>
      // The check reads nothing else from its context.
      service.run({
        context: { settings },
        probe: async () => ({ reached: true, durationMs, at: 0, date: undefined, version: undefined }),
      } as unknown as Parameters<typeof service.run>[0]);
    expect(await at(2500)).toMatchObject({ status: 'trouble', message: expect.stringContaining('2.5 s') });
    expect(await at(300)).toMatchObject({ status: 'ok' });
  });

  test('a clock that is off and a contract of another version', async () => {
    const other = await peer((response) => {
      response.writeHead(200, {
        'content-type': 'application/json',
        date: new Date(Date.now() - 3_600_000).toUTCString(),
      });
      response.end('{"openapi":"3.1.0","info":{"version":"1999-01-01"},"paths":{}}');
    });
    workspace.environment.ERRAND_BASE_URL = other.url;
    workspace.environment.ERRAND_API_KEY = 'sbx_test_x';
    const { of } = await examined();
    expect(of('clock')[0]?.message).toMatch(/3(599|600|601) s ahead/);
    expect(of('contract')[0]).toMatchObject({
      status: 'trouble',
      message: expect.stringContaining('1999-01-01'),
    });
  });

  test('a proxy that cannot be reached, and one that is passed by', async () => {
    Object.assign(workspace.environment, {
      ERRAND_BASE_URL: 'https://service.invalid',
      HTTPS_PROXY: 'http://user:secret@127.0.0.1:9',
    });
    const { of } = await examined();
    expect(of('proxy')).toMatchObject([
      { status: 'trouble', remedy: expect.stringContaining('NO_PROXY=service.invalid') },
    ]);
    expect(JSON.stringify(of('proxy'))).not.toContain('secret');
    workspace.environment.NO_PROXY = 'service.invalid';
    expect((await examined()).of('proxy')[0]).toMatchObject({ status: 'ok' });
  });

  test('certificate checks that are off', async () => {
    workspace.environment.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    expect((await examined()).troubles).toEqual(['tls']);
  });

  test('an order in doubt, with the command that settles it', async () => {
    const silent = await peer(reset);
    await shell(workspace, 'errand sandbox mint --no-store -o json --query example_order > order.json');
    workspace.environment.ERRAND_API_KEY = 'sbx_test_x';
    const line = `errand order create --file order.json --retries 0 --base-url ${silent.url}`;
    expect((await shell(workspace, line)).code).toBe(10);
    delete workspace.environment.ERRAND_API_KEY;
    const { code, of } = await examined();
    expect(code).toBe(7);
    expect(of('journal')).toMatchObject([
      { status: 'trouble', remedy: expect.stringContaining('errand order journal resume --all') },
    ]);
  });

  test('a completion script of another version, with the command that replaces it', async () => {
    const folder = join(workspace.folder, '.config/fish/completions');
    mkdirSync(folder, { recursive: true });
    const file = join(folder, 'errand.fish');
    writeFileSync(file, '# old');
    const { troubles, of } = await examined();
    expect(troubles).toEqual(['completion']);
    expect(of('completion')[0]?.remedy).toBe(`errand completion fish > ${file}`);
    const current = (await errand(workspace, ['completion', 'fish'])).stdout;
    writeFileSync(file, current);
    expect((await examined()).of('completion')).toMatchObject([
      { status: 'ok', message: expect.stringContaining('is that of this version') },
    ]);
  });

  const places = [
    ['bash', '.local/share/bash-completion/completions', 'errand'],
    ['zsh', '.zfunc', '_errand'],
    ['fish', '.config/fish/completions', 'errand.fish'],
  ] as const;

  test.each(places.filter(([shell]) => installedFile(shell) !== undefined))(
    'a script of %s whose program is gone, tried in the shell',
    async (shell, place, name) => {
      const file = join(workspace.folder, place, name);
      mkdirSync(dirname(file), { recursive: true });
      const { stdout } = await errand(workspace, ['completion', shell]);
      const program = join(workspace.folder, '.bin/errand');
      writeFileSync(file, stdout);
      expect((await examined()).of('completion')).toMatchObject([
        { status: 'ok', message: `${file} is that of this version and completes` },
      ]);
      writeFileSync(file, stdout.replace(program, `${program}-gone`));
      expect((await examined()).of('completion')).toMatchObject([
        {
          status: 'trouble',
          message: `${file} completes nothing: the program that it asks does not respond`,
          remedy: `errand completion ${shell} > ${file}`,
        },
      ]);
    },
  );

  test('where no script is found, what the own shell makes of one that is printed now', async () => {
    workspace.environment.SHELL = '/bin/bash';
    expect((await examined()).of('completion')).toMatchObject([{ status: 'info' }]);
    const bin = join(workspace.folder, '.bin');
    for (const name of ['bash', 'cat']) symlinkSync(installedFile(name) ?? '', join(bin, name));
    const { stdout } = await shell(
      workspace,
      `PATH=${bin} '${process.execPath}' ${bin}/errand doctor -o json`,
    );
    expect(JSON.parse(stdout)).toContainEqual(
      expect.objectContaining({
        check: 'completion',
        status: 'trouble',
        remedy: 'Put the folder of node on the PATH.',
      }),
    );
  });

  test('for people, the remedies follow the table on stderr', async () => {
    workspace.environment.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    const { code, stdout, stderr } = await errand(workspace, ['doctor']);
    expect(code).toBe(7);
    expect(stdout).toMatch(/^tls +trouble +NODE_TLS_REJECT_UNAUTHORIZED=0/m);
    expect(stderr).toMatch(/^tls: Unset it/m);
  });
});
