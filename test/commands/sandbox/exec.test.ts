import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { untilIdle } from '../../support/idle.ts';
import { orderBody } from '../../support/order-body.ts';
import { begin, errand, shell } from '../../support/run.ts';
import { Terminal } from '../../support/terminal.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
beforeEach(() => {
  workspace = makeWorkspace();
});
afterEach(() => workspace.remove());

const exec = (line: string, ...flags: string[]) =>
  errand(workspace, ['sandbox', 'exec', ...flags, '--', 'sh', '-c', line]);
const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};
/** ECONNREFUSED if nothing listens. */
const refusal = (url: string) => fetch(`${url}/healthz`).then(String, (error) => error.cause.code);

/** A test suite in another language: shell with curl. Places an order, waits, and checks the result. */
const suite = `
set -e
call() { curl -sf -H "authorization: Bearer $ERRAND_API_KEY" -H 'content-type: application/json' "$@"; }
call "$ERRAND_BASE_URL/healthz" >/dev/null
id=$(call -d "$(sed "s|SHOP|$ERRAND_SHOP_URL|; s|KEY|$1|" order.json)" "$ERRAND_BASE_URL/orders" | jq -r .id)
for try in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
  status=$(call "$ERRAND_BASE_URL/orders/$id" | jq -r .status)
  [ "$status" = order_placed ] && break
  sleep 0.1
done
[ "$status" = order_placed ]
[ "$(call "$ERRAND_BASE_URL/orders?limit=5" | jq -r .total)" = 1 ]
echo "$ERRAND_BASE_URL"
`;

test('runs a command with a service of its own, which is gone with it, and ends as the command did', async () => {
  const { code, stdout, stderr } = await exec('echo $ERRAND_BASE_URL $ERRAND_SHOP_URL; cat; exit 3');
  const [baseUrl = '', shopUrl] = stdout.trim().split(' ');
  expect([code, stderr, shopUrl]).toEqual([3, '', `${baseUrl}/shop`]);
  expect(await refusal(baseUrl)).toBe('ECONNREFUSED');
  expect(existsSync(join(workspace.folder, '.state'))).toBe(false);
  expect((await exec('kill -9 $$')).code).toBe(137);
});

test('8 suites at once on one machine disturb each other in nothing', async () => {
  const body = { ...orderBody('SHOP/test-success'), idempotency_key: 'KEY' };
  writeFileSync(join(workspace.folder, 'order.json'), JSON.stringify(body));
  writeFileSync(join(workspace.folder, 'suite.sh'), suite);
  const runs = await Promise.all(
    Array.from({ length: 8 }, () => exec('sh suite.sh the-same-key', '--speed', '20')),
  );
  expect(runs.map(({ code, stderr }) => [code, stderr])).toEqual(runs.map(() => [0, '']));
  const urls = runs.map(({ stdout }) => stdout.trim());
  expect(new Set(urls).size).toBe(8);
  expect(await Promise.all(urls.map(refusal))).toEqual(urls.map(() => 'ECONNREFUSED'));
});

test('the service has the seed and the faults that were asked for', async () => {
  const read = 'curl -s $ERRAND_BASE_URL/retailers | jq -r .code';
  expect((await exec(read, '--fault', '503')).stdout).toBe('service_unavailable\n');
  const wrong = await exec('true', '--fault', 'explode');
  expect([wrong.code, wrong.stderr]).toEqual([
    2,
    expect.stringContaining('--fault "explode" is not a fault'),
  ]);
});

test('the program itself orders there, with no settings of its own', async () => {
  const order = JSON.stringify(orderBody('SHOP/test-success'));
  writeFileSync(join(workspace.folder, 'order.json'), order);
  const line = 'sed "s|SHOP|$ERRAND_SHOP_URL|" order.json | errand order create --file - -o json --watch';
  const { code, stdout, stderr } = await exec(line, '--speed', '20');
  expect(code, stderr).toBe(0);
  expect(JSON.parse(stdout).tracking_numbers[0].status).toBe('delivered');
});

test.each([
  ['a program that is not there', ['nope'], '"nope" cannot be run: there is no such program', 127],
  ['a file that is no program', ['./order.json'], '"./order.json" cannot be run', 126],
  ['an option without --', ['npm', '--coverage'], "unknown option '--coverage'", 2],
  ['nothing', [], '`errand sandbox exec` needs <command>', 2],
])('%s is refused', async (_, args, message, expected) => {
  writeFileSync(join(workspace.folder, 'order.json'), '{}');
  const { code, stdout, stderr } = await errand(workspace, ['sandbox', 'exec', ...args]);
  expect([code, stdout]).toEqual([expected, '']);
  expect(stderr).toContain(message);
});

describe('a command that is told to end', () => {
  /** Two levels of processes, each of which writes its PID to a file. */
  const deep = "echo $$ > one; (sh -c 'echo $$ > two; exec sleep 60') & echo $ERRAND_BASE_URL; wait";
  const pidIn = (name: string): number => Number(readFileSync(join(workspace.folder, name), 'utf8'));

  test.each(['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT'] as const)(
    'by %s leaves no process, port or file behind',
    async (name) => {
      const child = begin(workspace, 'errand', ['sandbox', 'exec', '--', 'sh', '-c', deep]);
      const ended = once(child, 'exit');
      const [printed] = await once(child.stdout, 'data');
      await expect.poll(() => existsSync(join(workspace.folder, 'two')) && pidIn('two')).toBeGreaterThan(0);
      child.kill(name);
      expect(await ended).toEqual([name === 'SIGINT' ? 130 : 143, null]);
      await expect.poll(() => [isAlive(pidIn('one')), isAlive(pidIn('two'))]).toEqual([false, false]);
      expect(await refusal(String(printed).trim())).toBe('ECONNREFUSED');
      expect(readdirSync(workspace.folder).toSorted()).toEqual(['.bin', 'one', 'two']);
    },
  );

  test('and does not, is ended where it is told again', async () => {
    const stubborn = "trap '' TERM INT; echo $$ > one; echo up; while :; do sleep 0.1; done";
    const child = begin(workspace, 'errand', ['sandbox', 'exec', '--', 'sh', '-c', stubborn]);
    const ended = once(child, 'exit');
    await once(child.stdout, 'data');
    child.kill('SIGTERM');
    await untilIdle(child.pid);
    expect(isAlive(pidIn('one'))).toBe(true);
    child.kill('SIGTERM');
    expect(await ended).toEqual([143, null]);
    await expect.poll(() => isAlive(pidIn('one'))).toBe(false);
  });

  test('by Ctrl-C at a terminal hears it once, and ends in its own way', async () => {
    // It exits shortly after the signal; errand must wait for it.
    const line = "trap 'echo heard; sleep 0.5; exit 0' INT; echo up; while :; do sleep 0.1; done";
    const terminal = new Terminal(workspace, 'errand', ['sandbox', 'exec', '--', 'sh', '-c', line]);
    await expect.poll(() => terminal.text).toContain('up');
    terminal.type('\u0003');
    expect(await terminal.ended()).toBe(130);
    expect(terminal.text.match(/heard/g)).toEqual(['heard']);
  });

  test('reads the terminal that errand was started in', async () => {
    const terminal = new Terminal(workspace, 'errand', [
      'sandbox',
      'exec',
      '--',
      'sh',
      '-c',
      'read a; echo "<$a>"',
    ]);
    terminal.type('hello\r');
    expect(await terminal.ended()).toBe(0);
    expect(terminal.text).toContain('<hello>');
  });
});

test('what the command leaves in the background ends with it', async () => {
  const { code } = await exec('sleep 60 > /dev/null 2>&1 & echo $! > left');
  expect(code).toBe(0);
  const pid = Number((await shell(workspace, 'cat left')).stdout);
  await expect.poll(() => isAlive(pid)).toBe(false);
});
