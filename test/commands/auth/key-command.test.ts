import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { readKey } from '../../../src/config/key-command.ts';
import { Agent } from '../../integrations/mcp/agent.ts';
import { orderBody } from '../../support/order-body.ts';
import { begin, errand, spawned } from '../../support/run.ts';
import { TestService } from '../../support/service.ts';
import { Terminal } from '../../support/terminal.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

let service: TestService;
let workspace: Workspace;
beforeEach(async () => {
  service = await TestService.start({ now: Date.now() });
  workspace = makeWorkspace();
  await run('profile', 'set', 'work', '--base-url', service.baseUrl, '--use');
});
afterEach(async () => {
  workspace.remove();
  await service.stop();
});

const run = (...args: string[]) => errand(workspace, args);
const at = (...path: string[]) => join(workspace.folder, ...path);
const configured = () => JSON.parse(readFileSync(at('.config', 'config.json'), 'utf8')).profiles.work;

/** Writes the helper that reads the key, and counts how often it runs. @param then is what it does. */
function helper(then = `echo ${service.key}`): void {
  writeFileSync(at('.bin', 'vault'), `#!/bin/sh\necho run >> '${at('runs')}'\n${then}\n`, { mode: 0o755 });
}
const runs = (): number =>
  existsSync(at('runs')) ? readFileSync(at('runs'), 'utf8').split('\n').length - 1 : 0;

/** Names a working helper as the key command, and forgets that it ran. */
async function set(then?: string): Promise<void> {
  helper();
  expect(await run('auth', 'token', '--command', "vault read 'op://work/the key'")).toMatchObject({
    code: 0,
  });
  helper(then);
  writeFileSync(at('runs'), '');
}
/** Every file below a folder. */
const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((file) => statSync(file).isFile());

const order = (): string[] => {
  writeFileSync(at('order.json'), JSON.stringify(orderBody(service.product('test-success'))));
  return ['order', 'create', '--file', 'order.json', '--new', '-o', 'json'];
};

describe.runIf(process.platform !== 'win32')('a key command', () => {
  test('gives the key when it is needed; no file of errand has it', async () => {
    helper();
    const stored = await run('auth', 'token', '--command', "vault read 'op://work/the key'");
    expect(stored).toMatchObject({ code: 0, stdout: '' });
    expect(stored.stderr).toContain(
      `profile work reads its key from \`${at('.bin', 'vault')} read 'op://work/the key'\`:`,
    );
    expect(configured().key_command).toEqual([at('.bin', 'vault'), 'read', 'op://work/the key']);
    expect(await run(...order())).toMatchObject({ code: 0 });
    expect((await run('wallet')).code).toBe(0);
    const files = [...filesIn(at('.config')), ...filesIn(at('.state'))];
    expect(files.length).toBeGreaterThan(2);
    for (const file of files) expect(readFileSync(file, 'latin1'), file).not.toContain(service.key);
  });

  test('makes a test key a rehearsal, and a live key real money', async () => {
    await set();
    expect(await run(...order())).toMatchObject({ code: 0 });
    expect(await run('policy', 'usage', '-o', 'json')).toMatchObject({ code: 0 });
    expect(await run('policy', 'check', '--file', 'order.json')).toMatchObject({ code: 0 });
    helper(`echo ${service.key.replace('_test_', '_live_')}`);
    const refused = await run(...order());
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('--yes');
  });

  test('runs once for a command, and for none that needs no key', async () => {
    await set();
    await run('wallet');
    expect(runs()).toBe(1);
    expect(await run(...order())).toMatchObject({ code: 0 });
    expect(runs()).toBe(2);
    const tab = { COMP_LINE: 'errand order get ', COMP_POINT: '17' };
    Object.assign(workspace.environment, tab);
    for (const line of [
      ['--version'],
      ['--help'],
      ['order', 'create', '--help'],
      ['__complete', '--', 'order', 'get', ''],
      ['auth', 'list'],
      ['auth', 'logout', '--profile', 'local'],
      ['profile', 'list'],
      ['config', 'path'],
      ['config', 'set', 'timeout', '20s'],
      ['retailer', 'list'],
      ['order', 'journal', 'list', '--all'],
      ['sandbox', 'mint', '--no-store'],
    ])
      expect((await run(...line)).code, line.join(' ')).toBe(0);
    expect(runs()).toBe(2);
  });

  test('runs once for errand mcp', async () => {
    await set();
    // The newer client starts the server twice.
    const agent = await Agent.start(workspace, { line: 'sdk 1, protocol 2025-11-25' });
    for (let call = 0; call < 3; call += 1) await agent.get('wallet');
    expect(runs()).toBe(1);
  });

  test('gives way to ERRAND_API_KEY, and is not run for another address', async () => {
    await set();
    const other = await service.mint();
    workspace.environment.ERRAND_API_KEY = other;
    expect((await run('wallet')).code).toBe(0);
    const status = JSON.parse((await run('auth', 'status', '-o', 'json')).stdout);
    expect(status.api_key).toMatchObject({ from: 'environment', name: 'ERRAND_API_KEY' });
    delete workspace.environment.ERRAND_API_KEY;
    expect((await run('wallet', '--base-url', service.baseUrl.replace('127.0.0.1', 'localhost'))).code).toBe(
      3,
    );
    expect(runs()).toBe(0);
  });

  test.each<[what: string, name: string, mode: number]>([
    ['its file', '.bin/vault', 0o757],
    ...(process.getuid?.() === 0
      ? [['its file, by a group', '.bin/vault', 0o775] satisfies [string, string, number]]
      : []),
    ['its folder', '.bin', 0o777],
  ])('is not run where others may change %s', async (_, name, mode) => {
    await set();
    const path = at(...name.split('/'));
    const before = statSync(path).mode;
    // A group of its own user alone may write.
    if (mode === 0o775) chownSync(path, process.getuid?.() ?? 0, 65_534);
    chmodSync(path, mode);
    const refused = await run('wallet');
    expect(refused).toMatchObject({ code: 3, stdout: '' });
    expect(refused.stderr).toContain(`profile work is not run: ${path} can be changed by other users`);
    const stored = await run('auth', 'token', '--command', 'vault again');
    expect(stored).toMatchObject({ code: 2 });
    expect(stored.stderr).toContain(`--command: ${path} can be changed by other users`);
    expect(runs()).toBe(0);
    chmodSync(path, before);
    expect((await run('wallet')).code).toBe(0);
  });

  test('is not run where others may change a script that it is given', async () => {
    const script = at('key.sh');
    writeFileSync(script, `echo ${service.key}\n`, { mode: 0o600 });
    const stored = () => run('auth', 'token', '--command', `sh '${script}'`);
    expect(await stored()).toMatchObject({ code: 0 });
    expect(await run('wallet')).toMatchObject({ code: 0 });
    chmodSync(script, 0o602);
    const refused = await run('wallet');
    expect(refused).toMatchObject({ code: 3, stdout: '' });
    expect(refused.stderr).toContain(`profile work is not run: ${script} can be changed by other users`);
    expect(await stored()).toMatchObject({ code: 2 });
  });

  test('is run where a folder above it lets its group write, or is shared and sticky as /tmp is', async () => {
    await set();
    chmodSync(at('.bin'), 0o775);
    expect((await run('wallet')).code).toBe(0);
    chmodSync(at('.bin'), 0o1777);
    expect((await run('wallet')).code).toBe(0);
  });

  test.runIf(process.getuid?.() === 0)('is not run where it is the file of another user', async () => {
    await set();
    chownSync(at('.bin', 'vault'), 65_534, 65_534);
    const refused = await run('wallet');
    expect(refused.code).toBe(3);
    expect(refused.stderr).toContain('belongs to another user (uid 65534)');
    expect(runs()).toBe(0);
  });

  test('gets an environment without secrets, no stdin, no terminal, and the folder of the configuration', async () => {
    await set(
      `env > '${at('env')}'; cat > '${at('stdin')}'; pwd > '${at('pwd')}'
(: < /dev/tty) 2> /dev/null && touch '${at('tty')}'
tr '\\0' ' ' < /proc/$PPID/cmdline > '${at('argv')}'
echo ${service.key}`,
    );
    Object.assign(workspace.environment, {
      ERRAND_LEGACY_TOKEN: 'a-token-of-old',
      PATH: `${workspace.environment.PATH}:.:`,
    });
    expect(await spawned(workspace, ['wallet'], { stdin: 'what is piped in' })).toMatchObject({ code: 0 });
    const environment = readFileSync(at('env'), 'utf8');
    expect(environment).not.toMatch(/^ERRAND_(?:API_KEY|LEGACY_TOKEN|DATABASE_URL)=/m);
    expect(environment).toContain(`HOME=${workspace.folder}\n`);
    expect(environment).not.toMatch(/^PATH=(?:.*:)?(?:\.?)(?::|$)/m);
    expect(readFileSync(at('stdin'), 'utf8')).toBe('');
    expect(readFileSync(at('pwd'), 'utf8').trim()).toBe(at('.config'));
    expect(existsSync(at('tty'))).toBe(false);
    expect(readFileSync(at('argv'), 'utf8')).not.toContain(service.key);
  });

  test.each([
    ['exit 3', 'it ended with exit 3'],
    ['kill -9 $$', 'it was ended by SIGKILL'],
    ['true', 'it printed nothing'],
    ['echo', 'it printed nothing'],
    ['echo KEY; echo KEY', 'it printed several lines'],
    ["printf 'KEY\\033[2J'", 'it printed control characters'],
    ['echo "Error: not signed in"', 'what it printed is no key'],
    ['yes | head -c 100000', 'it printed more than 4096 bytes'],
  ])('that does `%s` is said to have given no key, and nothing is sent', async (then, why) => {
    await set(then.replaceAll('KEY', service.key));
    const refused = await run('wallet', '-o', 'json');
    expect(refused).toMatchObject({ code: 3, stdout: '' });
    expect(refused.stderr.trim().split('\n')).toHaveLength(1);
    const { error } = JSON.parse(refused.stderr);
    expect(error).toMatchObject({ code: 'key_command_failed', outcome: 'not_sent' });
    expect(error.message).toContain(`the key command of profile work gave no key: ${why}`);
    expect(error.hint).toContain(`${at('.bin', 'vault')} read 'op://work/the key'`);
    expect(refused.stderr).not.toContain(service.key);
    expect(await run(...order())).toMatchObject({ code: 3, stdout: '' });
  });

  test('shows its stderr as text from outside, without a key in it', async () => {
    await set(`printf 'unlock \\033]0;title\\007 ${service.key}\\n' >&2; echo ${service.key}`);
    const { code, stderr } = await run('wallet');
    expect(code).toBe(0);
    expect(stderr).toContain('vault: unlock ␛]0;title␇ ');
    expect(stderr).not.toContain(service.key);
    expect(stderr).not.toContain('\u001b');
  });

  test('that never stops printing to stderr is stopped, and not all of it is shown', async () => {
    await set('yes "unlock the vault" >&2');
    const { code, stderr } = await run('wallet');
    expect(code).toBe(3);
    expect(stderr).toContain('gave no key: it printed more than 65536 bytes to stderr');
    expect(stderr.length).toBeLessThan(200_000);
  });

  test('that asks on the terminal finds none, and does not wait', async () => {
    await set(`read answer < /dev/tty && touch '${at('asked')}'; exit 4`);
    const terminal = new Terminal(workspace, 'errand', ['wallet'], { columns: 160 });
    try {
      expect(await terminal.ended()).toBe(3);
      expect(terminal.text).toContain('it ended with exit 4');
    } finally {
      terminal.close();
    }
    expect(existsSync(at('asked'))).toBe(false);
  });

  test('that is gone is said to be', async () => {
    await set();
    chmodSync(at('.bin', 'vault'), 0o644);
    const refused = await run('wallet');
    expect(refused.code).toBe(3);
    expect(refused.stderr).toContain(`gave no key: ${at('.bin', 'vault')} is not a program that can be run`);
  });

  test('ends with all that it started when errand is interrupted', async () => {
    await set(`sleep 600 & echo $$ $! > '${at('pids.part')}'; mv '${at('pids.part')}' '${at('pids')}'; wait`);
    const child = begin(workspace, 'errand', ['wallet']);
    const ended = new Promise((resolve) => child.on('close', resolve));
    await vi.waitFor(() => expect(existsSync(at('pids'))).toBe(true), { timeout: 60_000 });
    child.kill('SIGINT');
    expect(await ended).toBe(130);
    for (const pid of readFileSync(at('pids'), 'utf8').trim().split(' '))
      await vi.waitFor(() => expect(isRunning(Number(pid))).toBe(false), { timeout: 60_000 });
  });

  test('ends with all that it started after ten seconds', async () => {
    helper(`sleep 600 & echo $$ $! > '${at('pids.part')}'; mv '${at('pids.part')}' '${at('pids')}'; wait`);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const asked = readKey({
      command: [at('.bin', 'vault')],
      profile: 'work',
      environment: { PATH: process.env.PATH },
      folder: workspace.folder,
      signal: new AbortController().signal,
      note: () => {},
    }).catch((error: unknown) => error);
    while (!existsSync(at('pids'))) await new Promise((resolve) => setImmediate(resolve));
    vi.advanceTimersByTime(10_000);
    expect(await asked).toMatchObject({
      message: 'the key command of profile work gave no key: it took more than 10 s',
      exitCode: 3,
    });
    vi.useRealTimers();
    for (const pid of readFileSync(at('pids'), 'utf8').trim().split(' '))
      await vi.waitFor(() => expect(isRunning(Number(pid))).toBe(false), { timeout: 60_000 });
  });
});

describe.runIf(spawnSync('strace', ['-V']).status === 0)('a key that a command gives', () => {
  /** Arguments of strace that note each program with its arguments and its whole environment. */
  const noting = (...line: string[]): string[] => [
    ...['-f', '-qq', '-v', '-s', '100000', '-e', 'trace=execve', '-e', 'signal=none', '-o', at('trace')],
    ...['errand', ...line],
  ];

  /** Arguments and environments of all programs that ran, which have this one among them and nowhere the key. */
  function checkTrace(program: string): void {
    const trace = readFileSync(at('trace'), 'latin1');
    expect(trace).toContain(program);
    expect(trace).toContain(at('.bin', 'vault'));
    expect(trace).not.toContain(service.key);
    for (const file of [...filesIn(at('.config')), ...filesIn(at('.state'))])
      expect(readFileSync(file, 'latin1'), file).not.toContain(service.key);
  }

  test('is in no argument and no environment of a pager', async () => {
    // The helper has it in a file, as a vault would.
    writeFileSync(at('key'), service.key);
    await set(`cat '${at('key')}'`);
    workspace.environment.PAGER = 'cat # the pager';
    const terminal = new Terminal(workspace, 'strace', noting('search', 'coffee'), { rows: 8 });
    expect(await terminal.ended(), terminal.text).toBe(0);
    terminal.close();
    checkTrace('the pager');
  });

  test('nor of a pay command', async () => {
    writeFileSync(at('key'), service.key);
    await set(`cat '${at('key')}'`);
    await run(...order());
    const pay = `: the wallet; printf '{"payload":{"type":"sandbox","authorization":"approve"}}'`;
    const line = ['agent', 'order', 'create', '--file', 'order.json', '--method', 'sandbox', '--yes'];
    const paid = await spawned(
      workspace,
      `strace ${noting(...line, '--new', '--pay-command', pay)
        .map((word) => `'${word.replaceAll("'", "'\\''")}'`)
        .join(' ')}`,
    );
    expect(paid.code, paid.stderr).toBe(0);
    checkTrace('the wallet');
  });

  test('nor of the command of a listener, which reads the order first', async () => {
    writeFileSync(at('key'), service.key);
    await set(`cat '${at('key')}'`);
    const { id } = JSON.parse((await run(...order())).stdout);
    const line = ['webhook', 'listen', '--exec', ': the hook', '--max', '1', '-o', 'ndjson'];
    const child = begin(workspace, 'strace', noting(...line));
    const ended = new Promise((resolve) => child.on('close', resolve));
    onTestFinished(() => void child.kill('SIGKILL'));
    let printed = '';
    child.stdout.on('data', (text) => {
      printed += text;
    });
    await expect.poll(() => printed).toContain('"ready"');
    const { url } = JSON.parse(printed.split('\n')[0] ?? '');
    const headers = { 'content-type': 'application/json', 'x-webhook-event': 'status_updated' };
    const { body } = await service.send('GET', `/orders/${id}`);
    await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
    expect(await ended).toBe(0);
    checkTrace('the hook');
  });
});

/** Whether a process exists and is no zombie, whose parent may be slow. */
function isRunning(pid: number): boolean {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

describe.runIf(process.platform !== 'win32')('a key command stands in place of a stored key', () => {
  test('stored keys are forgotten only where that is meant, and said', async () => {
    helper();
    for (const key of [service.key, await service.mint()])
      await errand(workspace, ['auth', 'token'], { stdin: key });
    const refused = await run('auth', 'token', '--command', 'vault read');
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toMatch(
      /profile work has \S+_test_…\S+ and \S+_test_…\S+ already; nothing was stored/,
    );
    expect(refused.stderr).toContain("try: errand auth token --command 'vault read' --replace");
    expect(runs()).toBe(0);
    expect(configured().key_command).toBeUndefined();
    const replaced = await run('auth', 'token', '--command', 'vault read', '--replace');
    expect(replaced.code).toBe(0);
    expect(replaced.stderr).toMatch(
      /in place of \S+_test_…\S+ and \S+_test_…\S+, which errand has forgotten/,
    );
    expect(Object.keys(configured()).sort()).toEqual(['base_url', 'key_command']);
    const { stdout } = await run('audit', 'log', '-o', 'ndjson');
    expect(stdout).toContain('"forgotten"');
  });

  test.each([
    ['auth token', (key: string) => errand(workspace, ['auth', 'token'], { stdin: key })],
    ['sandbox mint', () => run('sandbox', 'mint')],
  ])('%s forgets the command, and says so', async (_, store) => {
    await set();
    const { stderr } = await store(await service.mint());
    expect(stderr).toContain(
      `in place of the key command \`${at('.bin', 'vault')} read 'op://work/the key'\`, which is forgotten`,
    );
    expect(configured()).toMatchObject({ api_key: expect.stringMatching(/_test_/) });
    expect(configured().key_command).toBeUndefined();
    expect((await run('wallet')).code).toBe(0);
    expect(runs()).toBe(0);
  });

  test('logout forgets it, and so does another address', async () => {
    await set();
    const out = await run('auth', 'logout');
    expect(out.stderr).toContain('forgot the key command of profile work');
    expect(configured()).toEqual({ base_url: service.baseUrl });
    await set();
    const there = 'http://localhost:9';
    const refused = await run('profile', 'set', 'work', '--base-url', there);
    expect(refused).toMatchObject({ code: 2 });
    expect(refused.stderr).toContain('profile work has a key command for');
    expect((await run('profile', 'set', 'work', '--base-url', there, '--replace')).code).toBe(0);
    expect(configured()).toEqual({ base_url: there });
  });

  test('both in the file are refused', async () => {
    await set();
    const file = at('.config', 'config.json');
    const stored = JSON.parse(readFileSync(file, 'utf8'));
    for (const [changed, why] of [
      [{ api_key: service.key }, 'a key_command or stored keys, not both'],
      [{ key_command: ['vault'] }, 'the absolute path of a program'],
      [{ key_command: `${at('.bin', 'vault')} read` }, 'the absolute path of a program'],
    ] as const) {
      const profiles = { ...stored.profiles, work: { ...stored.profiles.work, ...changed } };
      writeFileSync(file, JSON.stringify({ ...stored, profiles }));
      const refused = await run('wallet');
      expect(refused.code).toBe(2);
      expect(refused.stderr).toContain(why);
    }
    expect(runs()).toBe(0);
  });

  test('each place that names a key says where it comes from', async () => {
    await set();
    const command = `${at('.bin', 'vault')} read 'op://work/the key'`;
    const status = JSON.parse((await run('auth', 'status', '-o', 'json')).stdout);
    expect(status).toMatchObject({
      api_key: { value: expect.stringMatching(/_test_….{4}$/), from: 'command', name: command },
      mode: 'test',
      works: true,
    });
    expect((await run('auth', 'list')).stderr).toContain(
      `profile work stores no key: \`${command}\` prints it`,
    );
    const profiles = JSON.parse((await run('profile', 'list', '-o', 'json')).stdout);
    expect(profiles).toContainEqual(
      expect.objectContaining({
        name: 'work',
        api_key: null,
        key_command: [at('.bin', 'vault'), 'read', 'op://work/the key'],
      }),
    );
    expect((await run('profile', 'list')).stdout).toContain(`from ${at('.bin', 'vault')}`);
    const checks = JSON.parse((await run('doctor', '-o', 'json')).stdout);
    const ofKey = () => checks.filter(({ check }: { check: string }) => check === 'key');
    expect(ofKey()).toEqual([
      expect.objectContaining({
        status: 'ok',
        message: expect.stringContaining(`from the command \`${command}\``),
      }),
    ]);
    helper('exit 3');
    const failing = JSON.parse((await run('doctor', '-o', 'json')).stdout);
    expect(failing).toContainEqual(
      expect.objectContaining({
        check: 'key',
        status: 'trouble',
        message: expect.stringContaining('exit 3'),
      }),
    );
  });

  test('is not for a client token, nor a setting', async () => {
    const both = await run('auth', 'token', '--legacy', '--command', 'sh');
    expect(both.code).toBe(2);
    expect(both.stderr).toContain('--command and --legacy exclude each other');
    expect((await run('config', 'set', 'key_command', 'sh')).code).toBe(2);
    expect((await run('config', 'set', 'key-command', 'sh')).code).toBe(2);
  });
});
