import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { ApprovalWorkspace, errorOf, makeKey, requestIdIn } from '../../support/approval-workspace.ts';
import { address } from '../../support/order-body.ts';
import { shell } from '../../support/run.ts';
import { TestService } from '../../support/service.ts';
import { Terminal } from '../../support/terminal.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

const clockSet = fileURLToPath(new URL('../../support/clock-set.cjs', import.meta.url));

let service: TestService;
let workspace: Workspace;
let at: ApprovalWorkspace;
let ada: string;

beforeEach(async () => {
  service = await TestService.start({ now: Date.now() });
  workspace = makeWorkspace({ ERRAND_BASE_URL: service.baseUrl, ERRAND_API_KEY: service.key });
  at = new ApprovalWorkspace(workspace, service);
  ada = makeKey(workspace, 'ada');
  at.policy(undefined, ['ada']);
});
afterEach(async () => {
  workspace.remove();
  await service.stop();
});

/** Shifts the clock of subsequent processes, ms. */
function setClock(ms: number): void {
  workspace.environment.NODE_OPTIONS = `--require ${clockSet}`;
  workspace.environment.CLOCK_SET_MS = String(ms);
  workspace.environment.CLOCK_SET_AFTER_MS = '-1';
}

describe('an approval covers that order at that total, once', () => {
  test('asked for, signed, and used by the same command', async () => {
    const refused = await at.create(5000);
    const id = requestIdIn(refused);
    expect(errorOf(refused)).toMatchObject({
      category: 'policy',
      code: 'approval_required',
      outcome: 'not_sent',
      details: { approval: { id, total_cents: 5100, subject: 'order', override: null } },
    });
    expect(errorOf(refused).next[1].command).toBe(`errand approval approve ${id} --key ~/.ssh/id_ed25519`);
    expect(await at.ordersMade()).toBe(0);
    // Repeating the command reuses the request.
    expect(requestIdIn(await at.create(5000))).toBe(id);
    const approved = await at.run(['approval', 'approve', id, '--key', ada, '-o', 'json']);
    expect(approved).toMatchObject({ code: 0 });
    expect(JSON.parse(approved.stdout)).toMatchObject({
      id,
      state: 'approved',
      is_signed: true,
      decided_by: expect.stringMatching(/^SHA256:/),
      total_cents: 5100,
    });
    expect(await at.create(5000)).toMatchObject({ code: 0 });
    const shown = JSON.parse((await at.run(['approval', 'show', id.slice(0, 8), '-o', 'json'])).stdout);
    expect(shown).toMatchObject({ id, state: 'used', used_for: [{ cents: 5100 }] });
    const again = await at.create(5000);
    expect(requestIdIn(again)).not.toBe(id);
    expect(errorOf(again).message).toContain(
      `approval ${id} was already used for ${shown.used_for[0].order_id}`,
    );
    expect(await at.ordersMade()).toBe(1);
  });

  test.each([
    ['one cent more', () => at.create(5001), 'covers $51.00, and this takes $51.01'],
    [
      'another address',
      () => at.create(5000, { shipping_address: { ...address, address_line1: '2 Main St' } }),
      'is for another address',
    ],
    [
      'another quantity',
      () => at.create(5000, { products: [{ url: service.product('test-success'), quantity: 2 }] }),
      'is for other products or another quantity',
    ],
    ['another field', () => at.create(5000, { po_number: 'PO-2' }), 'is for an order with other fields'],
    [
      'another profile',
      async () => {
        await at.run(['profile', 'set', 'other', '--base-url', service.baseUrl]);
        return at.run([...at.order(5000), '--profile', 'other']);
      },
      'is for another profile',
    ],
    [
      'another account',
      async () => {
        workspace.environment.ERRAND_API_KEY = await service.mint();
        return at.create(5000);
      },
      'is for another account',
    ],
    [
      'the day after',
      () => {
        setClock(25 * 3600 * 1000);
        return at.create(5000);
      },
      'expired at',
    ],
  ])('and not %s', async (_, attempt, why) => {
    const id = await at.approved(ada, 5000);
    const refused = await attempt();
    expect([refused.code, errorOf(refused)?.message]).toEqual([
      11,
      expect.stringContaining(`approval ${id} ${why}`),
    ]);
    expect(await at.ordersMade()).toBe(0);
  });

  test('a lower price is covered, and the same order however it is spelt', async () => {
    await at.approved(ada, 5000);
    const spelt = { ...address, address_line1: ` ${address.address_line1.toUpperCase()} ` };
    expect(await at.create(4000, { shipping_address: spelt, metadata: {} })).toMatchObject({ code: 0 });
    expect(await at.ordersMade()).toBe(1);
  });

  test('as long as the policy says', async () => {
    at.policy('approve: { above: $20, expires: 2d }', ['ada']);
    await at.approved(ada, 5000);
    setClock(47 * 3600 * 1000);
    expect(await at.create(5000)).toMatchObject({ code: 0 });
  });

  test('and no longer, whatever was signed or said before', async () => {
    await at.approved(ada, 5000);
    // The policy's expiry is shorter now.
    at.policy('approve: { above: $20, expires: 1h }', ['ada']);
    setClock(2 * 3600 * 1000);
    expect(errorOf(await at.create(5000)).message).toContain('expired at');
    const listed = await at.run(['approval', 'list', '--all', '-o', 'csv', '--fields', 'state']);
    expect(listed.stdout.trim().split('\n').slice(1).sort()).toEqual(['expired', 'open']);
    // An approver signed a longer lifetime than the policy allows.
    at.policy(undefined, ['ada']);
    const id = requestIdIn(await at.create(7000));
    const asked = (await at.run(['approval', 'export', id])).stdout;
    const request = asked.replace(/"expires_at":"\d{4}/, '"expires_at":"2096');
    writeFileSync(join(workspace.folder, 'request'), request);
    await shell(workspace, 'ssh-keygen -q -Y sign -n errand-approval -f ada request');
    const signed = { request: JSON.parse(request), signature: at.text('request.sig') };
    writeFileSync(join(workspace.folder, 'signed.json'), JSON.stringify(signed));
    const other = makeWorkspace({ ERRAND_BASE_URL: service.baseUrl, ERRAND_API_KEY: service.key });
    onTestFinished(() => other.remove());
    const there = new ApprovalWorkspace(other, service);
    for (const name of ['signed.json', 'ada.pub']) writeFileSync(join(other.folder, name), at.text(name));
    there.policy(undefined, ['ada']);
    other.environment.NODE_OPTIONS = workspace.environment.NODE_OPTIONS ?? '';
    Object.assign(other.environment, { CLOCK_SET_MS: String(50 * 3600 * 1000), CLOCK_SET_AFTER_MS: '-1' });
    const late = await there.run([...there.order(7000), '--approval', 'signed.json']);
    expect([late.code, errorOf(late).message]).toEqual([
      11,
      expect.stringContaining(`approval ${id} expired at`),
    ]);
    other.environment.CLOCK_SET_MS = '0';
    const early = await there.run([...there.order(7000), '--approval', 'signed.json']);
    expect([early.code, errorOf(early).message]).toEqual([
      11,
      expect.stringContaining('which is still to come by the clock of this machine'),
    ]);
    expect(await at.ordersMade()).toBe(0);
    other.environment.CLOCK_SET_MS = String(3 * 3600 * 1000);
    expect(await there.run([...there.order(7000), '--approval', 'signed.json'])).toMatchObject({ code: 0 });
  });

  test('it does not let through what the policy refuses', async () => {
    await at.approved(ada, 5000);
    at.policy('approve: { above: $20 }\nlimits:\n  per_order: $30', ['ada']);
    expect(errorOf(await at.create(5000))).toMatchObject({ code: 'policy_refused' });
    expect(await at.ordersMade()).toBe(0);
  });
});

describe('only the signature of an approver counts', () => {
  test('a key that is not listed is refused', async () => {
    const eve = makeKey(workspace, 'eve');
    const id = requestIdIn(await at.create(5000));
    const refused = await at.run(['approval', 'approve', id, '--key', eve]);
    expect([refused.code, refused.stderr]).toEqual([
      11,
      expect.stringContaining('does not name that key as an approver'),
    ]);
    const signed = await shell(
      workspace,
      `errand approval export ${id} | ssh-keygen -q -Y sign -n errand-approval -f eve | errand approval import`,
    );
    expect(signed.code).toBe(11);
    expect(requestIdIn(await at.create(5000))).toBe(id);
  });

  test('made by ssh-keygen from what is exported', async () => {
    const id = requestIdIn(await at.create(5000));
    const signed = await shell(
      workspace,
      `errand approval export ${id} | ssh-keygen -q -Y sign -n errand-approval -f ada | errand approval import -o id`,
    );
    expect([signed.code, signed.stdout.trim()]).toEqual([0, id]);
    expect(await at.create(5000)).toMatchObject({ code: 0 });
  });

  test('made by an agent that holds the key', async () => {
    const id = requestIdIn(await at.create(5000));
    const signed = await shell(
      workspace,
      `eval "$(ssh-agent -s)" > /dev/null; ssh-add -q ada; rm ada
       errand approval approve ${id} --key ada.pub -o id; code=$?; ssh-agent -k > /dev/null; exit $code`,
    );
    expect(signed).toMatchObject({ code: 0, stdout: `${id}\n` });
    expect(await at.create(5000)).toMatchObject({ code: 0 });
  });

  test.each([
    ['another namespace', 'errand approval export ID | ssh-keygen -q -Y sign -n file -f ada'],
    [
      'another total',
      "errand approval export ID | sed 's/5100/5101/' | ssh-keygen -q -Y sign -n errand-approval -f ada",
    ],
  ])('and not one for %s', async (_, line) => {
    const id = requestIdIn(await at.create(5000));
    const signed = await shell(workspace, `${line.replace('ID', id)} | errand approval import`);
    expect([signed.code, signed.stderr]).toEqual([11, expect.stringContaining('does not hold')]);
    expect(await at.create(5000)).toMatchObject({ code: 11 });
  });

  test('a state that was written into the journal is no approval', async () => {
    const id = requestIdIn(await at.create(5000));
    at.policy();
    const forged = await at.run(['approval', 'approve', id]);
    expect([forged.code, forged.stderr]).toEqual([11, expect.stringContaining('takes a terminal')]);
    // Approved with a key that is no longer listed.
    at.policy(undefined, ['ada']);
    expect(await at.run(['approval', 'approve', id, '--key', ada])).toMatchObject({ code: 0 });
    makeKey(workspace, 'bob');
    at.policy(undefined, ['bob']);
    const refused = await at.create(5000);
    expect([refused.code, errorOf(refused).message]).toEqual([
      11,
      expect.stringContaining('does not name that key as an approver'),
    ]);
    expect(await at.ordersMade()).toBe(0);
  });

  test('a key file that is none stops every order, with its line', async () => {
    const file = at.policy('approve: { above: $20 }\napprovers: [nobody.pub]');
    const absent = await at.create(100);
    expect([absent.code, errorOf(absent).message]).toEqual([
      11,
      expect.stringMatching(/policy\.yaml, line 3: approvers\[1\] .*nobody\.pub does not exist/),
    ]);
    writeFileSync(join(workspace.folder, '.config', 'nobody.pub'), at.text('ada'), { mode: 0o600 });
    expect(errorOf(await at.create(100)).message).toContain('is a private key; name its .pub file');
    expect(file).toContain('policy.yaml');
    expect(await at.ordersMade()).toBe(0);
  });

  test('without ssh-keygen that is said, and nothing is sent', async () => {
    await at.approved(ada, 5000);
    symlinkSync(process.execPath, join(workspace.folder, '.bin', 'node'));
    workspace.environment.PATH = join(workspace.folder, '.bin');
    const refused = await at.create(5000);
    expect([refused.code, errorOf(refused)]).toEqual([
      11,
      expect.objectContaining({ code: 'ssh_keygen_missing', outcome: 'not_sent' }),
    ]);
    expect(await at.ordersMade()).toBe(0);
  });

  test('a denied request is refused, and not asked for again', async () => {
    const id = requestIdIn(await at.create(5000));
    expect(await at.run(['approval', 'deny', id])).toMatchObject({ code: 0 });
    const refused = await at.create(5000);
    expect(requestIdIn(refused)).toBe(id);
    expect(errorOf(refused).message).toContain(`approval ${id} was denied`);
    expect(await at.run(['approval', 'list', '-o', 'id'])).toMatchObject({ code: 0, stdout: '' });
    // The suggested command works.
    expect(await at.run(['approval', 'approve', id, '--key', ada])).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/it was denied by .*; approving it takes that back/),
    });
    expect(await at.create(5000)).toMatchObject({ code: 0 });
  });

  test('another total than the denied one is asked for anew', async () => {
    const id = requestIdIn(await at.create(5000));
    await at.run(['approval', 'deny', id]);
    for (const cents of [5100, 4900]) {
      const asked = await at.create(cents);
      const other = requestIdIn(asked);
      expect(other).not.toBe(id);
      expect(errorOf(asked).message).toContain(`approval ${id} was denied by`);
      expect(errorOf(asked).next[1].command).toContain(`errand approval approve ${other} `);
    }
  });

  test('what was decided is said, and the first approver stays', async () => {
    const bob = makeKey(workspace, 'bob');
    at.policy(undefined, ['ada', 'bob']);
    const id = await at.approved(ada, 5000);
    const shown = async () => JSON.parse((await at.run(['approval', 'show', id, '-o', 'json'])).stdout);
    const before = await shown();
    const second = await at.run(['approval', 'approve', id, '--key', bob]);
    expect([second.code, second.stderr]).toEqual([
      0,
      expect.stringContaining(`${before.decided_by} approved it already`),
    ]);
    const signed = await shell(
      workspace,
      `errand approval export ${id} -o json > both; node -e 'process.stdout.write(JSON.stringify(JSON.parse(require("fs").readFileSync("both")).request) + "\\n")' > request
       ssh-keygen -q -Y sign -n errand-approval -f bob request && errand approval import request.sig`,
    );
    expect([signed.code, signed.stderr]).toEqual([0, expect.not.stringContaining('error')]);
    expect(await shown()).toEqual(before);
    at.policy(undefined, ['bob']);
    expect(await shown()).toMatchObject({ state: 'untrusted' });
    expect((await at.run(['approval', 'list', '-o', 'id'])).stdout).toBe(`${id}\n`);
    const again = await at.run(['approval', 'approve', id, '--key', bob]);
    expect([again.code, again.stderr]).toEqual([
      0,
      expect.stringContaining('no longer counts under the policy'),
    ]);
    expect(await shown()).toMatchObject({ state: 'approved' });
    setClock(25 * 3600 * 1000);
    const late = await at.run(['approval', 'deny', id]);
    expect([late.code, late.stderr]).toEqual([11, expect.stringContaining('there is nothing left to deny')]);
  });

  test('the list tells an override, what comes with it and the host at any width', async () => {
    at.policy('limits:\n  per_order: $30\napprove: { above: $20 }', ['ada']);
    const args = at.order(5000, { metadata: { team: 'ops' } });
    requestIdIn(await at.run([...args, '--override-policy', 'the office moves']));
    const host = new URL(service.baseUrl).host;
    const { stdout } = await at.run(['approval', 'list', '-o', 'csv']);
    expect(stdout).toContain(`${host}/shop/test-success x 1, with metadata`);
    requestIdIn(await at.create(2500, { po_number: 'PO-3' }));
    for (const [columns, wanted] of [
      [50, [` ${host}`]],
      [80, [` ${host}`, 'order override']],
    ] as const) {
      const terminal = new Terminal(workspace, 'errand', ['approval', 'list'], { columns });
      expect(await terminal.ended()).toBe(0);
      for (const one of wanted) expect(terminal.text).toContain(one);
    }
  });

  test('an approval of something else altogether is not named', async () => {
    const id = await at.approved(ada, 5000);
    const other = await at.create(5000, {
      shipping_address: { ...address, address_line1: '9 Elm St' },
      po_number: 'PO-9',
    });
    expect(errorOf(other).message).not.toContain(id);
    expect(requestIdIn(other)).not.toBe(id);
  });
});
