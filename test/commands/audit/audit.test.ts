import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { loadSqlite } from '../../../src/platform/sqlite/load.ts';
import { errand } from '../../support/run.ts';
import { type Shopping, shopping } from '../../support/shopping.ts';
import { makeWorkspace } from '../../support/workspace.ts';

/**
 * Modifies the journal as a local attacker would: drops the triggers that prevent errand itself from rewriting the
 * chain.
 */
function tamper({ workspace }: Pick<Shopping, 'workspace'>, sql: string): void {
  const database = new (loadSqlite())(join(workspace.folder, '.state', 'journal.db'));
  database.exec(`DROP TRIGGER IF EXISTS audit_keeps; DROP TRIGGER IF EXISTS audit_stays; ${sql}`);
  database.close();
}

const records = async ({ run }: Shopping) => JSON.parse((await run('audit', 'log', '-o', 'json')).stdout);

async function verified({ run }: Shopping, ...more: string[]) {
  const { code, stdout, stderr } = await run('audit', 'verify', '-o', 'json', ...more);
  return { code, stderr, ...JSON.parse(stdout) };
}

describe('the audit chain of the program', () => {
  test('a changed record is found and named, and what appends after it goes on', async () => {
    const shop = await shopping();
    for (const key of ['k1', 'k2']) await shop.order('--idempotency-key', key, '--po-number', key);
    expect(await verified(shop)).toMatchObject({ code: 0, intact: true, records: 4 });
    tamper(
      shop,
      "UPDATE audit SET amount_cents = 1 WHERE number = 3; UPDATE audit SET hash = 'x' WHERE number = 4",
    );
    await shop.order('--idempotency-key', 'k3', '--po-number', 'k3');
    const found = await verified(shop);
    expect(found).toMatchObject({
      code: 7,
      records: 6,
      findings: [
        { number: 3, finding: 'changed' },
        { number: 4, finding: 'changed' },
      ],
    });
    expect(found.stderr).toContain('record 3 was changed');
  });

  test('a record that is missing, moved, or replaced as a whole is found', async () => {
    const shop = await shopping();
    for (const key of ['k1', 'k2']) await shop.order('--idempotency-key', key, '--po-number', key);
    tamper(shop, 'CREATE TABLE kept AS SELECT * FROM audit');
    const restore = 'DELETE FROM audit; INSERT INTO audit SELECT * FROM kept';
    tamper(shop, 'DELETE FROM audit WHERE number = 2');
    expect(await verified(shop)).toMatchObject({ code: 7, findings: [{ number: 2, finding: 'missing' }] });
    tamper(
      shop,
      `${restore}; UPDATE audit SET number = 9 WHERE number = 2; UPDATE audit SET number = 2
      WHERE number = 3; UPDATE audit SET number = 3 WHERE number = 9`,
    );
    const moved = await verified(shop);
    expect(moved.code).toBe(7);
    expect(moved.findings.map(({ number }: { number: number }) => number)).toEqual([2, 3]);
    tamper(shop, restore);
    expect(await verified(shop)).toMatchObject({ code: 0 });
  });

  test.each(['actor', 'command', 'detail', 'key'])(
    'a text of %s that goes on behind a NUL is found',
    async (column) => {
      const shop = await shopping();
      await shop.order('--idempotency-key', 'k1');
      tamper(shop, `UPDATE audit SET ${column} = ${column} || char(0) || ' was eve' WHERE number = 1`);
      expect(await verified(shop)).toMatchObject({ code: 7, findings: [{ number: 1, finding: 'changed' }] });
    },
  );

  test('a chain that is gone as a whole is found by the count of the journal, and only where there was one', async () => {
    const shop = await shopping();
    expect(await verified(shop)).toMatchObject({ code: 0, records: 0 });
    await shop.order('--idempotency-key', 'k1');
    tamper(shop, 'DELETE FROM audit');
    const gone = await verified(shop);
    expect(gone).toMatchObject({ code: 7, records: 0, findings: [{ finding: 'lost' }] });
    expect(gone.stderr).toContain('the journal counts 1 intents and the chain 0: its records are missing');
    // A journal older than the audit chain, without a record of where the chain starts.
    tamper(
      shop,
      `${['attempts', 'attempt_accounts', 'attempt_parts', 'attempt_settings', 'quotes', 'facts', 'approvals']
        .concat('reservations', 'audit')
        .map((later) => `DROP TABLE ${later};`)
        .join('')}PRAGMA user_version = 3`,
    );
    expect(await verified(shop)).toMatchObject({ code: 0, records: 0 });
    await shop.order('--idempotency-key', 'k2', '--po-number', '2');
    expect(await verified(shop)).toMatchObject({ code: 0, records: 2 });
    tamper(shop, 'DELETE FROM audit');
    expect(await verified(shop)).toMatchObject({ code: 7, findings: [{ finding: 'lost' }] });
  });

  test('an order that is given up was not resumed; the log takes each field, records or none, and shows the reason', async () => {
    const shop = await shopping();
    const fields = ['audit', 'log', '--fields', 'number,detail', '-o', 'json'];
    expect(await shop.run(...fields)).toMatchObject({ code: 0, stdout: '[]\n' });
    shop.losses.faults = ['reset-after'];
    await shop.order('--idempotency-key', 'k1');
    await shop.run('order', 'journal', 'forget', 'k1');
    expect((await records(shop)).map(({ kind }: { kind: string }) => kind)).toEqual([
      'intent',
      'in_doubt',
      'given_up',
    ]);
    const { stdout } = await shop.run(...fields);
    expect(JSON.parse(stdout)[2]).toMatchObject({ number: 3, detail: { operation: 'order.create' } });
    expect((await shop.run('audit', 'log', '-o', 'csv')).stdout).toContain(',order.create,');
  });

  test('an end that is cut off is found by the count of the journal, and by a hash that was kept', async () => {
    const shop = await shopping();
    await shop.order('--idempotency-key', 'k1');
    await shop.run('order', 'journal', 'list');
    const head = (await shop.run('audit', 'head', '-o', 'id')).stdout.trim();
    await shop.order('--idempotency-key', 'k2', '--po-number', '2');
    expect(await verified(shop, '--head', head)).toMatchObject({ code: 0 });
    tamper(shop, 'DELETE FROM audit WHERE number > 2');
    expect(await verified(shop)).toMatchObject({ code: 7, findings: [{ finding: 'lost' }] });
    tamper(shop, 'DELETE FROM audit WHERE number > 1');
    expect((await verified(shop, '--head', head)).stderr).toContain(`no intact record has the hash ${head}`);
  });

  test('an export is verified on another machine, byte for byte', async () => {
    const shop = await shopping();
    await shop.order('--idempotency-key', 'k1');
    const { stdout } = await shop.run('audit', 'export');
    const elsewhere = makeWorkspace();
    try {
      const file = join(elsewhere.folder, 'audit.ndjson');
      const verifyFile = async (text: string | Buffer) => {
        writeFileSync(file, text);
        return errand(elsewhere, ['audit', 'verify', '--file', file, '-o', 'json']);
      };
      const crlf = stdout.replaceAll('\n', '\r\n');
      // As Windows shells write output redirected with `>`.
      for (const same of [stdout, crlf, `\ufeff${crlf}`, Buffer.from(`\ufeff${crlf}`, 'utf16le')])
        expect(await verifyFile(same)).toMatchObject({ code: 0 });
      for (const empty of ['', '\ufeff']) {
        const { code, stderr } = await verifyFile(empty);
        expect([code, stderr]).toEqual([2, expect.stringContaining('holds no record, so it proves nothing')]);
      }
      const junk = await verifyFile('junk\n');
      expect(JSON.parse(junk.stdout)).toMatchObject({ intact: false, head: { number: 1, hash: null } });
      for (const changed of [stdout.replace('{"actor"', '{ "actor"'), `${stdout}[]\n`, stdout.slice(0, -20)])
        expect(await verifyFile(changed)).toMatchObject({ code: 7 });
      expect(await verifyFile(Buffer.from([0x7b, 0xff, 0x0a]))).toMatchObject({ code: 2 });
      expect(await verifyFile('x'.repeat(1_100_000))).toMatchObject({ code: 2 });
      rmSync(file);
      const missing = await errand(elsewhere, ['audit', 'verify', '--file', file]);
      expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining('--file') });
    } finally {
      elsewhere.remove();
    }
  });

  test('tells what was refused, what is in doubt, and that it was resumed', async () => {
    const shop = await shopping();
    await shop.order('--idempotency-key', 'k1', '--max-price-cents', '1');
    shop.losses.faults = ['reset-after'];
    expect((await shop.order('--idempotency-key', 'k2', '--po-number', '2')).code).toBe(10);
    await shop.run('order', 'journal', 'resume', 'k2');
    shop.losses.faults = [];
    const told = await records(shop);
    expect(
      told.filter(({ key }: { key: string }) => key === 'k2').map(({ kind }: { kind: string }) => kind),
    ).toEqual(['intent', 'in_doubt', 'resumed', 'responded']);
  });

  test('holds no key, address, email or file name, whatever the command line holds', async () => {
    const shop = await shopping();
    await shop.order('--idempotency-key', 'k1', '--notify', 'eve@example.com', '--address-line2', 'Flat 9');
    await shop.run(
      'order',
      'create',
      '--file',
      'order.json',
      '--first-name',
      'Evelyn',
      '--phone-number',
      '2125550199',
    );
    const { stdout } = await shop.run('audit', 'export');
    for (const part of [
      shop.service.key,
      'eve@',
      'Flat 9',
      'Evelyn',
      '2125550199',
      'order.json',
      'http://127.0.0.1/',
    ])
      expect(stdout).not.toContain(part);
    expect(stdout).toContain('--address-line2 …');
  });

  test('a cancellation that the chain cannot hold is not sent; forgetting a key goes on, and says so', async () => {
    const shop = await shopping();
    const { stdout } = await shop.order('-o', 'id');
    await shop.run('profile', 'set', 'work', '--base-url', shop.service.baseUrl, '--use');
    const token = ['auth', 'token', '--base-url', shop.service.baseUrl];
    expect((await errand(shop.workspace, token, { stdin: 'zz_test_0123456789abcdef' })).code).toBe(0);
    tamper(
      shop,
      `CREATE TRIGGER full BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END`,
    );
    const refused = await shop.run('order', 'cancel', stdout.trim());
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(
      /the audit chain cannot be written \(.*disk is full.*\); nothing was sent/,
    );
    expect(JSON.stringify(await shop.orders())).not.toContain('cancelled');
    const loggedOut = await shop.run('auth', 'logout');
    expect([loggedOut.code, loggedOut.stderr]).toEqual([
      0,
      expect.stringContaining('not in the audit chain'),
    ]);
  });

  test('a stored key that changes is recorded by its fingerprint, a CI job by its name', async () => {
    const workspace = makeWorkspace({
      GITHUB_ACTIONS: 'true',
      GITHUB_REPOSITORY: 'acme/shop',
      GITHUB_RUN_ID: '7',
    });
    try {
      const [one, two] = ['zz_test_0123456789abcdef', 'zz_test_fedcba9876543210'];
      await errand(workspace, ['profile', 'set', 'work', '--base-url', 'http://127.0.0.1:9', '--use']);
      for (const key of [one, two]) await errand(workspace, ['auth', 'token', '--replace'], { stdin: key });
      await errand(workspace, ['auth', 'logout']);
      const { stdout } = await errand(workspace, ['audit', 'log', '-o', 'json']);
      const told = JSON.parse(stdout);
      expect(told).toMatchObject([
        { kind: 'key', profile: 'work', job: 'GITHUB_ACTIONS acme/shop/7', detail: { change: 'stored' } },
        { kind: 'key', detail: { change: 'replaced', before: told[0].detail.after } },
        { kind: 'key', detail: { change: 'forgotten', after: null } },
      ]);
      for (const key of [one, two]) expect(stdout).not.toContain(key.slice(8));
    } finally {
      workspace.remove();
    }
  });

  test('a retailer account that is added and removed is recorded, without its login', async () => {
    const shop = await shopping();
    writeFileSync(join(shop.workspace.folder, 'password.txt'), 'correct horse');
    const login = ['--email', 'eve@example.com', '--password-file', 'password.txt'];
    const { stdout: id } = await shop.run('account', 'add', ...login, '-o', 'id');
    await shop.run('account', 'remove', id.trim());
    const told = await records(shop);
    expect(told.map(({ detail }: { detail: unknown }) => detail)).toMatchObject([
      { change: 'added', outcome: 'sent', account: null },
      { change: 'added', outcome: 'done', account: id.trim() },
      { change: 'removed', outcome: 'sent', account: id.trim() },
      { change: 'removed', outcome: 'done' },
    ]);
    expect(JSON.stringify(told)).not.toContain('eve@');
  });

  test('a refusal of the policy is recorded once, and which policy was followed', async () => {
    const shop = await shopping();
    const folder = join(shop.workspace.folder, '.config');
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const policy = (limit: string): void =>
      writeFileSync(join(folder, 'policy.yaml'), `version: 1\nlimits:\n  per_order: ${limit}\n`, {
        mode: 0o600,
      });
    policy('$2');
    for (let times = 0; times < 3; times += 1) expect((await shop.order('--new')).code).toBe(11);
    expect((await shop.order('--new', '--dry-run')).code).toBe(11);
    policy('$200');
    for (let times = 0; times < 2; times += 1) expect((await shop.order('--new')).code).toBe(0);
    policy('$3');
    expect((await shop.order('--new')).code).toBe(11);
    const told = await records(shop);
    const kinds = told.map(({ kind }: { kind: string }) => kind);
    const ordered = ['intent', 'responded', 'intent', 'responded'];
    expect(kinds).toEqual(['policy', 'policy_refused', 'policy', ...ordered, 'policy', 'policy_refused']);
    expect(told[1]).toMatchObject({
      amount_cents: 5_100,
      detail: { rules: 'limits.per_order', orders: 1, policy: told[0].detail.policy },
    });
    expect(told[0].detail.before).toBe(null);
    expect(told[2].detail.before).toBe(told[0].detail.policy);
    expect(told[7].detail.before).toBe(told[2].detail.policy);
    expect(await verified(shop)).toMatchObject({ code: 0, records: 9 });
    expect(await shop.orders()).toHaveLength(2);
  });

  test('a journal that is repaired keeps the beginning of its chain, and says where it goes on', async () => {
    const shop = await shopping();
    for (const key of ['k1', 'k2']) await shop.order('--idempotency-key', key, '--po-number', key);
    const head = (await shop.run('audit', 'head', '-o', 'id')).stdout.trim();
    tamper(shop, "UPDATE audit SET actor = 'eve' WHERE number = 3; DELETE FROM tally");
    const repaired = await shop.run('order', 'journal', 'repair');
    expect(repaired.stderr).toContain('the audit chain keeps its first 2 records and goes on; 2 more');
    expect(await verified(shop)).toMatchObject({ code: 0, records: 3 });
    const told = await records(shop);
    expect(told[2]).toMatchObject({ kind: 'repaired', detail: { kept: 2, left: 2, intents: { kept: 2 } } });
    expect(await verified(shop, '--head', head)).toMatchObject({ code: 7, findings: [{ finding: 'lost' }] });
    await shop.order('--idempotency-key', 'k3', '--po-number', '3');
    expect(await verified(shop)).toMatchObject({ code: 0, records: 5 });
  });
});
