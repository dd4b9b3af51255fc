import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { sha256 } from '../../src/format/canonical.ts';
import { macUnder } from '../../src/journal/mac.ts';
import { Agent } from '../integrations/mcp/agent.ts';
import { fingerprintOf, makeKey } from '../support/approval-workspace.ts';
import { forge, like } from '../support/forge.ts';
import { orderBody } from '../support/order-body.ts';
import { hasPostgres, type TeamDatabase, useServer } from '../support/postgres.ts';
import { errand, type Finished } from '../support/run.ts';
import { TestService } from '../support/service.ts';
import { errorOf } from '../support/shopping.ts';
import { Terminal } from '../support/terminal.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';

describe.skipIf(!hasPostgres)('a published policy is signed', () => {
  const server = useServer();
  let service: TestService;
  beforeAll(async () => {
    service = await TestService.start({ now: Date.now() });
  });
  afterAll(() => service.stop());

  async function machine({ url }: TeamDatabase): Promise<Workspace> {
    const workspace = makeWorkspace({
      ERRAND_DATABASE_URL: url,
      ERRAND_BASE_URL: service.baseUrl,
      ERRAND_API_KEY: service.key,
    });
    onTestFinished(workspace.remove);
    const body = { ...orderBody(service.product('test-success')), max_price: 15_000 };
    writeFileSync(join(workspace.folder, 'order.json'), JSON.stringify(body));
    return workspace;
  }

  const publish = (workspace: Workspace, text: string, key: string): Promise<Finished> => {
    writeFileSync(join(workspace.folder, 'policy.yaml'), `version: 1\n${text}\n`, { mode: 0o600 });
    return errand(workspace, ['policy', 'publish', 'policy.yaml', '--key', key, '-o', 'json']);
  };

  const order = (workspace: Workspace): Promise<Finished> =>
    errand(workspace, ['order', 'create', '--file', 'order.json', '--new', '-o', 'json']);

  const ordersMade = async (): Promise<number> => (await service.send('GET', '/orders')).body.orders.length;

  /**
   * A team whose published policy refuses the order of $150: the publisher's machine, one that trusts the publisher, and
   * one that is new for a job.
   */
  async function team() {
    const database = await server().newDatabase();
    const [publisher, buyer, job] = [
      await machine(database),
      await machine(database),
      await machine(database),
    ];
    const key = makeKey(publisher, 'ada');
    const signer = fingerprintOf(key);
    expect(await publish(publisher, 'limits: { per_order: $1000 }', key)).toMatchObject({ code: 0 });
    expect(await publish(publisher, 'limits: { per_order: $100 }', key)).toMatchObject({ code: 0 });
    const trusted = await errand(buyer, ['policy', 'trust', signer, '-o', 'json']);
    expect(trusted.code, trusted.stderr).toBe(0);
    job.environment.ERRAND_POLICY_SIGNER = signer;
    return { database, publisher, buyer, job, key, signer };
  }

  const stored = async (database: TeamDatabase): Promise<Record<string, unknown>> => {
    const [row] = await database.rows<{ value: string }>(
      "SELECT value FROM errand.facts WHERE name = 'policy'",
    );
    const text = row?.value ?? '';
    return JSON.parse(text.slice(text.indexOf(' ') + 1));
  };

  /** Writes a row as the role may, with a checksum and a change that every copy reads. */
  const write = (database: TeamDatabase, row: Readonly<Record<string, unknown>>): Promise<void> => {
    const text = JSON.stringify(row);
    return database.run(`
      UPDATE errand.heads SET seq = seq + 1 WHERE name = 'journal';
      UPDATE errand.facts SET value = $row$${sha256(text)} ${text}$row$,
        seq = (SELECT seq FROM errand.heads WHERE name = 'journal') WHERE name = 'policy'`);
  };

  const remove = (database: TeamDatabase): Promise<void> =>
    database.run(`
      UPDATE errand.heads SET seq = seq + 1 WHERE name = 'journal';
      DELETE FROM errand.facts WHERE name = 'policy';
      INSERT INTO errand.removed (head, name, key, seq)
        SELECT 'journal', 'facts', '["policy"]', seq FROM errand.heads WHERE name = 'journal'`);

  /** No machine orders, and each command that looks at the policy names what is wrong. */
  async function refusedEverywhere(
    machines: readonly Workspace[],
    code: string,
    message: string,
    altered?: string,
  ) {
    const before = await ordersMade();
    for (const workspace of machines) {
      const refused = await order(workspace);
      expect([refused.code, errorOf(refused)], altered).toMatchObject([
        11,
        { code, outcome: 'not_sent', message: expect.stringContaining(message) },
      ]);
      const shown = await errand(workspace, ['policy', 'show']);
      expect([shown.code, shown.stderr], altered).toEqual([11, expect.stringContaining(message)]);
      const doctor = await errand(workspace, ['doctor', '-o', 'json']);
      expect(JSON.parse(doctor.stdout), altered).toContainEqual(
        expect.objectContaining({
          ...{ check: 'policy', status: 'trouble', message: expect.stringContaining(message) },
        }),
      );
      const verified = await errand(workspace, ['audit', 'verify', '-o', 'json']);
      expect([verified.code, JSON.parse(verified.stdout)], altered).toMatchObject([
        7,
        { findings: [{ finding: 'policy', message: expect.stringContaining(message) }] },
      ]);
    }
    expect(await ordersMade()).toBe(before);
  }

  test('holds on a machine that trusts its signer, and on one that is told of it', async () => {
    const { buyer, job, publisher, signer } = await team();
    for (const workspace of [publisher, buyer, job]) {
      expect(errorOf(await order(workspace))).toMatchObject({ code: 'policy_refused' });
      const shown = await errand(workspace, ['policy', 'show', '-o', 'json']);
      expect(JSON.parse(shown.stdout)).toMatchObject([{ rule: 'limits.per_order', signer }]);
      const doctor = await errand(workspace, ['doctor', '-o', 'json']);
      expect(JSON.parse(doctor.stdout)).toContainEqual(
        expect.objectContaining({ check: 'policy', status: 'ok', message: expect.stringContaining(signer) }),
      );
      expect(await errand(workspace, ['audit', 'verify'])).toMatchObject({ code: 0 });
    }
    expect(pinsOf(publisher)).toHaveLength(1);
    expect(pinsOf(buyer).map((file) => statSync(file).mode & 0o777)).toEqual([0o600]);
    expect(pinsOf(job)).toEqual([]);
  });

  const pinsOf = ({ environment: { ERRAND_STATE_DIR: state = '' } }: Workspace): string[] =>
    readdirSync(state)
      .filter((name) => name.endsWith('.policy.json'))
      .map((name) => join(state, name));

  const altered = [
    ['text', (row: Row) => ({ ...row, text: 'version: 1\n' })],
    ['keys', (row: Row) => ({ ...row, keys: { 'eve.pub': 'ssh-ed25519 AAAA' } })],
    ['timeZone', (row: Row) => ({ ...row, timeZone: 'Asia/Tokyo' })],
    ['by', (row: Row) => ({ ...row, by: 'eve@laptop' })],
    ['at', (row: Row) => ({ ...row, at: '2027-01-01T00:00:00.000Z' })],
    ['database', (row: Row) => ({ ...row, database: 'another' })],
    ['number', (row: Row) => ({ ...row, number: 3 })],
    ['errand_policy', (row: Row) => ({ ...row, errand_policy: 2 })],
    ['a field more', (row: Row) => ({ ...row, more: true })],
  ] as const;

  test('and not followed once any of its fields is altered', async () => {
    const { database, buyer, job } = await team();
    const published = await stored(database);
    for (const [field, change] of altered) {
      await write(database, change(published));
      await refusedEverywhere([buyer, job], 'policy_altered', 'that does not hold', field);
    }
  });

  type Row = Record<string, unknown>;

  test('and not followed where it is not what errand writes', async () => {
    const { database, buyer, job } = await team();
    const { number: _, ...row } = await stored(database);
    await write(database, row);
    await refusedEverywhere([buyer, job], 'policy_altered', 'is not what errand wrote');
  });

  test('and not followed without its signature, with no signature, or with that of another policy', async () => {
    const { database, publisher, buyer, job, key } = await team();
    const row = await stored(database);
    const { signature: _, ...unsigned } = row;
    await write(database, unsigned);
    await refusedEverywhere([buyer], 'policy_unsigned', 'is not signed');
    await write(database, { ...row, signature: 'signed, Ada' });
    await refusedEverywhere([job], 'policy_altered', 'has a signature that ssh-keygen did not make');
    await write(database, row);
    expect(await publish(publisher, 'limits: { per_order: $90 }', key)).toMatchObject({ code: 0 });
    const { signature } = await stored(database);
    await write(database, { ...row, signature });
    await refusedEverywhere([buyer, job], 'policy_altered', 'that does not hold');
  });

  test('and an older one that is put back is noticed', async () => {
    const { database, publisher, buyer, job, key } = await team();
    const older = await stored(database);
    expect(await publish(publisher, 'limits: { per_order: $90 }', key)).toMatchObject({ code: 0 });
    expect(errorOf(await order(buyer))).toMatchObject({ code: 'policy_refused' });
    await write(database, older);
    await refusedEverywhere([buyer, job], 'policy_rolled_back', 'the audit chain has number 3');
    // Its entry in the chain too.
    await database.run(`
      ALTER TABLE errand.audit DISABLE TRIGGER USER;
      DELETE FROM errand.audit WHERE kind = 'policy_published' AND number = (
        SELECT max(number) FROM errand.audit WHERE kind = 'policy_published')`);
    for (const folder of copiesOf(buyer)) rmSync(folder, { recursive: true });
    expect(errorOf(await order(buyer))).toMatchObject({
      code: 'policy_rolled_back',
      message: expect.stringContaining('this machine has seen number 3'),
    });
    // A person who knows why may follow it.
    const { signer } = JSON.parse(readFileSync(pinsOf(buyer)[0] ?? '', 'utf8'));
    const trusted = await errand(buyer, ['policy', 'trust', signer, '-o', 'json']);
    expect(JSON.parse(trusted.stdout)).toMatchObject({ number: 2, replaced: { number: 3, signer } });
    expect(errorOf(await order(buyer))).toMatchObject({ code: 'policy_refused' });
  });

  const copiesOf = ({ environment: { ERRAND_STATE_DIR: state = '' } }: Workspace): string[] =>
    readdirSync(state)
      .filter((name) => /^team-[0-9a-f]+$/.test(name))
      .map((name) => join(state, name));

  test('and what is in doubt is not sent under one that is altered', async () => {
    const { database, publisher, key, buyer, job } = await team();
    expect(await publish(publisher, 'limits: { per_order: $1000 }', key)).toMatchObject({ code: 0 });
    expect(await order(buyer)).toMatchObject({ code: 0 });
    await forge(buyer, (it) => {
      const intent = like(it.rows()[0], {});
      it.insert(intent);
      it.enterWhole(intent, macUnder(String(buyer.environment.ERRAND_API_KEY)));
    });
    await write(database, { ...(await stored(database)), text: 'version: 1\nrehearsals: exempt\n' });
    const before = await ordersMade();
    for (const workspace of [buyer, job]) {
      const resumed = await errand(workspace, ['order', 'journal', 'resume', '--all', '-o', 'json']);
      expect([resumed.code, resumed.stderr]).toEqual([11, expect.stringContaining('that does not hold')]);
    }
    expect(await ordersMade()).toBe(before);
  });

  test('and one that is deleted frees nobody', async () => {
    const { database, publisher, buyer, job, key } = await team();
    await remove(database);
    const fresh = await machine(database);
    await refusedEverywhere([publisher, buyer, job, fresh], 'policy_gone', 'no policy is published in');
    expect(await publish(publisher, 'limits: { per_order: $100 }', key)).toMatchObject({ code: 0 });
    for (const workspace of [buyer, job])
      expect(errorOf(await order(workspace))).toMatchObject({ code: 'policy_refused' });
  });

  test('and a database made anew frees no machine that knew a policy there, until that machine is told', async () => {
    const { database, publisher, buyer, job } = await team();
    await database.run('DROP SCHEMA errand CASCADE; CREATE SCHEMA errand AUTHORIZATION errand');
    for (const folder of [buyer, publisher].flatMap(copiesOf)) rmSync(folder, { recursive: true });
    const before = await ordersMade();
    for (const workspace of [buyer, job])
      expect(errorOf(await order(workspace))).toMatchObject({ code: 'policy_gone' });
    expect(await ordersMade()).toBe(before);
    const forgotten = await errand(buyer, ['policy', 'trust', 'none', '-o', 'json']);
    expect(JSON.parse(forgotten.stdout)).toMatchObject({ signer: null, replaced: { number: 2 } });
    expect(await order(buyer)).toMatchObject({ code: 0 });
  });

  test('and one of another database is not followed, neither its row nor its identity', async () => {
    const { database, buyer, job, publisher, key, signer } = await team();
    const other = await server().newDatabase();
    const elsewhere = await machine(other);
    expect(await publish(elsewhere, 'limits: { per_order: $1000 }', key)).toMatchObject({ code: 0 });
    await write(database, await stored(other));
    await refusedEverywhere([buyer, job], 'policy_elsewhere', 'for another database');
    const [id] = await other.rows<{ id: string }>("SELECT id FROM errand.heads WHERE name = 'journal'");
    await database.run(`UPDATE errand.heads SET id = '${id?.id}' WHERE name = 'journal'`);
    const before = await ordersMade();
    for (const workspace of [publisher, buyer, job]) expect((await order(workspace)).code).not.toBe(0);
    for (const folder of copiesOf(buyer)) rmSync(folder, { recursive: true });
    expect((await order(buyer)).code).toBe(11);
    expect(await ordersMade()).toBe(before);
    expect(signer).toMatch(/^SHA256:/);
  });

  test('and by another key it is not followed until that key is trusted', async () => {
    const { database, buyer, job, signer } = await team();
    const attacker = await machine(database);
    const eve = makeKey(attacker, 'eve');
    const published = await publish(attacker, 'limits: { per_order: $1000 }', eve);
    expect(JSON.parse(published.stdout)).toMatchObject({ signer: fingerprintOf(eve), replaced: { signer } });
    await refusedEverywhere([buyer, job], 'policy_signer_differs', `is signed by ${fingerprintOf(eve)}`);
    expect((await errand(buyer, ['policy', 'show'])).stdout).toContain('$1,000.00');
    const wrong = await errand(buyer, ['policy', 'trust', `SHA256:${'a'.repeat(43)}`]);
    expect(wrong).toMatchObject({ code: 11, stdout: '' });
    const unnamed = await errand(buyer, ['policy', 'trust']);
    expect([unnamed.code, unnamed.stderr]).toEqual([2, expect.stringContaining('name the fingerprint')]);
    const preview = await errand(buyer, ['policy', 'trust', fingerprintOf(eve), '--dry-run']);
    expect([preview.code, preview.stderr]).toEqual([0, expect.stringContaining('nothing was changed')]);
    expect(errorOf(await order(buyer))).toMatchObject({ code: 'policy_signer_differs' });
    expect(await errand(buyer, ['policy', 'trust', fingerprintOf(eve)])).toMatchObject({ code: 0 });
    expect(await order(buyer)).toMatchObject({ code: 0 });
  });

  test('and a machine that is new and has no terminal orders nothing until it is told of the signer', async () => {
    const { database, signer } = await team();
    const fresh = await machine(database);
    const before = await ordersMade();
    const refused = await order(fresh);
    expect([refused.code, errorOf(refused)]).toMatchObject([
      11,
      {
        code: 'policy_signer_unknown',
        message: expect.stringContaining(signer),
        hint: expect.stringContaining(`ERRAND_POLICY_SIGNER=${signer}`),
        next: [{ command: `errand policy trust ${signer}` }],
      },
    ]);
    expect(pinsOf(fresh)).toEqual([]);
    expect(await errand(fresh, ['audit', 'verify'])).toMatchObject({ code: 0 });
    expect(await ordersMade()).toBe(before);
    fresh.environment.ERRAND_POLICY_SIGNER = `SHA256:${'b'.repeat(43)}`;
    expect(errorOf(await order(fresh))).toMatchObject({ code: 'policy_signer_differs' });
    fresh.environment.ERRAND_POLICY_SIGNER = 'ada';
    expect(await order(fresh)).toMatchObject({ code: 2 });
    fresh.environment.ERRAND_POLICY_SIGNER = signer;
    expect(errorOf(await order(fresh))).toMatchObject({ code: 'policy_refused' });
    expect(pinsOf(fresh)).toEqual([]);
  });

  test('and at a terminal the first signer is trusted, and told once; another one is asked about', async () => {
    const { database, signer } = await team();
    const fresh = await machine(database);
    const first = new Terminal(fresh, 'errand', ['policy', 'show']);
    expect(await first.ended()).toBe(0);
    expect(first.text.replaceAll(/\s+/g, ' ')).toContain(`${signer} signed`);
    expect(pinsOf(fresh)).toHaveLength(1);
    const again = new Terminal(fresh, 'errand', ['policy', 'show']);
    expect(await again.ended()).toBe(0);
    expect(again.text).not.toContain('this machine trusts');
    const attacker = await machine(database);
    const eve = makeKey(attacker, 'eve');
    await publish(attacker, 'limits: { per_order: $1000 }', eve);
    const asked = new Terminal(fresh, 'errand', ['policy', 'trust']);
    await asked.shows('Is that the key of your publisher');
    asked.type('n\r');
    expect(await asked.ended()).toBe(11);
    expect(asked.text).toContain(signer);
    expect(asked.text).toContain(fingerprintOf(eve));
    expect(errorOf(await order(fresh))).toMatchObject({ code: 'policy_signer_differs' });
  });

  test('and a program and an agent are held to it as a machine without a terminal is', async () => {
    const { database, buyer, signer } = await team();
    const fresh = await machine(database);
    const opened = async ({ environment }: Workspace, more: object): Promise<string> => {
      const source = `import { openJournal } from 'errand/safely';
        const { ERRAND_STATE_DIR: folder, ERRAND_DATABASE_URL: database } = process.env;
        openJournal({ folder, database, ...${JSON.stringify(more)} }).then(
          async (journal) => { await journal.close(); console.log('open'); },
          (error) => console.log(error.category, error.facts.code)).then(async () => {
            // A connection that is left open keeps the program alive for ten seconds.
            const left = () => process.getActiveResourcesInfo().filter((it) => it.startsWith('TCP')).length;
            const until = Date.now() + 5000;
            while (left() > 0 && Date.now() < until) await new Promise(setImmediate);
            console.log(left());
          });`;
      const args = ['--input-type=module', '-e', source];
      const { stdout } = await promisify(execFile)(process.execPath, args, { env: environment });
      return stdout.trim();
    };
    expect(await opened(buyer, {})).toBe('open\n0');
    expect(await opened(fresh, {})).toBe('policy policy_signer_unknown\n0');
    expect(await opened(fresh, { policySigner: signer })).toBe('open\n0');
    const another = `SHA256:${'c'.repeat(43)}`;
    expect(await opened(buyer, { policySigner: another })).toBe('policy policy_signer_differs\n0');
    const { products, shipping_address } = orderBody(service.product('test-success'));
    const quote = { products, shipping_address, max_price: 15_000 };
    for (const [workspace, code] of [
      [buyer, 'policy_refused'],
      [fresh, 'policy_signer_unknown'],
    ] as const) {
      const agent = await Agent.start(workspace);
      expect(await agent.refused('order_quote', quote)).toMatchObject({ code });
    }
    expect(pinsOf(fresh)).toEqual([]);
  });

  test('a trust that cannot be read is no trust', async () => {
    const { buyer, signer } = await team();
    const [pin = ''] = pinsOf(buyer);
    writeFileSync(pin, '{}');
    expect(errorOf(await order(buyer))).toMatchObject({ code: 'policy_trust_unreadable' });
    expect(await errand(buyer, ['policy', 'trust', signer])).toMatchObject({ code: 0 });
    expect(errorOf(await order(buyer))).toMatchObject({ code: 'policy_refused' });
    expect(existsSync(pin)).toBe(true);
  });
});
