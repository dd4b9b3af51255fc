import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { orderBody } from '../support/order-body.ts';
import { hasPostgres, type TeamDatabase, useServer } from '../support/postgres.ts';
import { begin, shell } from '../support/run.ts';
import { shopping } from '../support/shopping.ts';

/** The part of the password that needs no escaping. */
const coreOf = ({ password }: TeamDatabase): string => /[0-9a-f]{12,}/.exec(password)?.[0] ?? '';

/** Whether a text contains the password: plain, escaped, or in base64 at any alignment. */
function holds(text: string, core: string): boolean {
  const encoded = [0, 1, 2].map((at) => {
    const bytes = Buffer.from(core).subarray(at);
    return bytes.subarray(0, bytes.length - (bytes.length % 3)).toString('base64');
  });
  return [core, ...encoded].some((form) => text.includes(form));
}

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => join(folder, name))
    .filter((file) => statSync(file, { throwIfNoEntry: false })?.isFile());
}

describe.skipIf(!hasPostgres)('the password of the database', () => {
  const server = useServer();

  async function scene() {
    const database = await server().newDatabase();
    const shop = await shopping();
    Object.assign(shop.workspace.environment, { ERRAND_DATABASE_URL: database.url });
    const core = coreOf(database);
    expect(core.length).toBeGreaterThan(11);
    return { database, shop, core };
  }

  test('reaches no program that errand starts, wherever the password comes from', async () => {
    const { database, shop, core } = await scene();
    const { password } = new URL(database.url);
    const environment = {
      ERRAND_DATABASE_URL: database.url.replace(`:${password}@`, '@'),
      ...{ PGPASSWORD: decodeURIComponent(password), PGPASSFILE: '/of/nobody', PGHOST: 'of.nobody' },
    };
    Object.assign(shop.workspace.environment, environment);
    const order = await shop.order('-o', 'json');
    expect(order.code, order.stderr).toBe(0);
    const { code, stdout, stderr } = await shell(shop.workspace, 'errand sandbox exec -- env');
    expect(code, stderr).toBe(0);
    expect(stdout).toContain('PATH=');
    expect(holds(stdout, core)).toBe(false);
    expect(stdout).not.toMatch(/^PG[A-Z]+=/m);
  });

  test('stands in nothing that commands print or write, whatever they are asked and whatever goes wrong', async () => {
    const { database, shop, core } = await scene();
    const { port } = new URL(database.url);
    const wrong = [
      database.url.replace(`:${port}/`, ':9/'),
      database.url.replace(/\/team_\d+$/, '/no_such_database'),
      database.url.replace('127.0.0.1', 'no-such-host.invalid'),
      database.url.replace('errand:', 'nobody:'),
      `${database.url}?sslmode=require`,
      `${database.url}?sslmode=nonsense`,
      `${database.url}?option that=is wrong`,
      database.url.replace('postgres:', 'mysql:'),
      database.url.replace('%23', '#'),
      database.url.replace('postgres://', ''),
      database.url.replace(/%25/g, '%'),
    ];
    const lines = [
      'errand order create --file order.json --debug -o json',
      'errand order create --file order.json --new --curl',
      'errand order create --file order.json --new --dry-run',
      'errand order list --debug',
      'errand order journal list --all -o json --debug',
      'errand audit export',
      'errand audit verify -o json',
      'errand doctor -o json --debug',
      'errand doctor',
      'errand config list -o json',
      'errand profile list -o json',
      'NODE_DEBUG=net,tls,http,stream errand order journal list --debug',
      'errand spend show --debug',
    ];
    for (const line of lines) {
      const { stdout, stderr } = await shell(shop.workspace, line);
      expect(holds(stdout + stderr, core), `${line}: ${stdout}${stderr}`).toBe(false);
    }
    for (const url of wrong) {
      const environment = { ...shop.workspace.environment, ERRAND_DATABASE_URL: url };
      for (const line of [
        'errand order create --file order.json --new --debug -o json',
        'errand doctor --debug',
      ]) {
        const { code, stdout, stderr } = await shell({ ...shop.workspace, environment }, line);
        expect(code, `${url}: ${stderr}`).not.toBe(0);
        expect(holds(stdout + stderr, core), `${line} with ${url}: ${stdout}${stderr}`).toBe(false);
      }
    }
    expect(await shop.orders()).toHaveLength(1);
    for (const file of filesIn(shop.workspace.folder))
      expect(holds(readFileSync(file, 'latin1'), core), file).toBe(false);
  });

  test('stands in no argv, nor in a report that Node writes of the process', async () => {
    const { shop, core } = await scene();
    const { workspace } = shop;
    writeFileSync(
      join(workspace.folder, 'slow.json'),
      JSON.stringify(orderBody(shop.service.product('test-never'))),
    );
    const reports = join(workspace.folder, 'reports');
    Object.assign(workspace.environment, {
      NODE_OPTIONS: `${workspace.environment.NODE_OPTIONS} --report-on-signal --report-directory=${reports}`,
    });
    await shell(workspace, `mkdir ${reports}`);
    const child = begin(workspace, 'errand', [
      'order',
      'create',
      '--file',
      'slow.json',
      '--watch',
      '--until',
      'delivered',
    ]);
    onTestFinished(() => void child.kill('SIGKILL'));
    await expect.poll(() => shop.orders()).toHaveLength(1);
    for (const name of readdirSync('/proc').filter((one) => /^\d+$/.test(one))) {
      const argv = cmdlineOf(name);
      expect(holds(argv, core), argv).toBe(false);
    }
    child.kill('SIGUSR2');
    await expect.poll(() => filesIn(reports)).toHaveLength(1);
    const [report = ''] = filesIn(reports);
    await expect.poll(() => readFileSync(report, 'utf8').trimEnd().endsWith('}')).toBe(true);
    expect(holds(readFileSync(report, 'utf8'), core)).toBe(false);
  });
});

function cmdlineOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    // The process has ended.
    return '';
  }
}
