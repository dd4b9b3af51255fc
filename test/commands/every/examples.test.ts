import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { knownCommands } from '../../support/known-commands.ts';
import { hasPostgres, useServer } from '../../support/postgres.ts';
import { errand, shell } from '../../support/run.ts';
import { makeWorkspace, prefer, type Workspace } from '../../support/workspace.ts';

const commands = await knownCommands();
/**
 * Examples to run last: those that empty the sandbox, then minting a key, which is refused if one exists. The policy
 * comes first of these, since it would refuse some of the others.
 */
const last = ['policy init', 'sandbox reset', 'sandbox mint'];
const examples = commands
  .flatMap(({ path, command }) => command.examples.map(({ command: line }) => [path, line] as const))
  .toSorted(([a], [b]) => last.indexOf(a) - last.indexOf(b));

/** Exit codes other than 0 that an example may legitimately demonstrate. */
const alsoFine: Readonly<Record<string, readonly number[]>> = {
  'order cancel': [0, 5],
  'bulk cancel': [0, 5, 7],
  undo: [0, 5, 7],
  'retailer check': [0, 7],
  'bulk apply': [0, 7],
  // No database is named here; test/postgres has one.
  'order journal move': [2],
  reconcile: [0, 7],
  'webhook listen': [8],
  'webhook wait': [7, 8],
  'webhook replay': [0, 7, 9],
};
const speed = 50;
/** Needs a journal shared by machines. */
const ofTeam = (path: string, line: string): boolean =>
  /^policy (?:publish|trust)$/.test(path) || line.includes('--share');
/** Examples that run until stopped; `test/service` runs them. */
const endless = /^errand (sandbox serve|auth login --no-browser)/;

const isPossible = (path: string, line: string): boolean => hasPostgres || !ofTeam(path, line);

/** Limits commands that wait for events to one second. */
const soonOver = (path: string, line: string): string =>
  /^webhook (?:listen|wait)$/.test(path) ? `${line.replace(/ --timeout \S+/, '')} --timeout 1s` : line;

/** An event for `webhook events` and `webhook replay`. */
const hearOneEvent = `errand webhook listen --unverified -o ndjson --max 1 > heard &
  until grep -q ready heard; do sleep 0.05; done
  node -e "fetch(JSON.parse(require('fs').readFileSync('heard')).url, { method: 'POST', body: '{}' })"
  wait $!`;

describe('every example of the help', () => {
  const server = useServer();
  let workspace: Workspace;
  let requests = 0;

  beforeAll(async () => {
    workspace = makeWorkspace();
    const setUp = [
      `errand config set sandbox-speed ${speed}`,
      'errand sandbox mint --no-store -o json --query example_order > order.json',
      `sed '1s/{/{"idempotency_key": "example-1",/' order.json > keyed-order.json`,
      "errand sandbox mint -o json --query api_key | tr -d '\"' > key.txt",
      'printf secret > password.txt',
      'mkdir .ssh && ssh-keygen -q -t ed25519 -N "" -f .ssh/id_ed25519',
      "(umask 077; printf 'version: 1\nlimits: { per_day: $500 }\n' > policy.yaml)",
      'echo postgres://errand:secret@127.0.0.1/team > database-url.txt',
      'errand profile set served --base-url http://127.0.0.1:4848',
      'errand profile set work --base-url http://127.0.0.1:4848',
      `printf '#!/bin/sh\ncat "%s/key.txt"\n' "$PWD" > .bin/op && chmod +x .bin/op`,
      'errand order create --file order.json',
      "mkdir scenarios && echo '{version: 1, expect: [{request: GET /orders, body: {total: 0}}]}' | tee shop.yaml > scenarios/one.yaml",
      hearOneEvent,
    ];
    const csv = [
      'errand bulk template > orders.csv',
      "sed 's/max_price_cents/Limit/; s/,name,/,Ship To,/' orders.csv > theirs.csv",
      "sed 's/errand_reference/Requisition/; s/metadata.team/Line/' orders.csv > requisitions.csv",
      `sed 's#https://www.example.com/products/1#http://127.0.0.1:4848/shop/test-out-of-stock#; s/A-/B-/' orders.csv > mixed.csv`,
    ];
    for (const line of [...setUp, ...csv]) expect(await shell(workspace, line)).toMatchObject({ code: 0 });
    workspace.environment.URL = JSON.parse(
      (await errand(workspace, ['sandbox', 'products', '-o', 'json'])).stdout,
    )[0].url;
    workspace.environment.SLOW = workspace.environment.URL?.replace(/[^/]+$/, 'test-slow') ?? '';
    const batchOf = async (file: string): Promise<string> =>
      (await shell(workspace, `errand bulk upload ${file} -o id`)).stdout.trim();
    workspace.environment.BATCH = await batchOf('orders.csv');
    workspace.environment.FAILED = await batchOf('mixed.csv');
    await batchOf('orders.csv --name december --run december');
    await shell(workspace, 'errand bulk watch $FAILED');
    workspace.environment.PRODUCT =
      (
        await errand(workspace, ['product', 'search', 'tea', '--retailer', 'harborgoods', '-o', 'id'])
      ).stdout.split('\n')[0] ?? '';
    workspace.environment.EVENT = '1';
    workspace.environment.EDITOR = 'true';
    // Examples repeat the same order.
    prefer(workspace, { 'duplicate-window': '0' });
    workspace.environment.PAID = (
      await shell(workspace, 'errand agent order create --file order.json -o id')
    ).stdout.trim();
    workspace.environment.ORDER = (
      await shell(workspace, 'errand order create --file order.json -o id')
    ).stdout.trim();
    workspace.environment.ITEM = (await placedOrder(workspace.environment.ORDER)).items[0].order_item_id;
    const shop = { scripts: { test: 'curl -sf "$ERRAND_BASE_URL/healthz"' } };
    writeFileSync(join(workspace.folder, 'package.json'), JSON.stringify(shop));
    const [filed, returned] = [await newOrder(), await newOrder()];
    writeFileSync(join(workspace.folder, 'return.json'), JSON.stringify(await placedOrder(filed)));
    writeFileSync(
      join(workspace.folder, 'returns.csv'),
      `order,reason\n${(await placedOrder(await newOrder())).order_id},damaged\n`,
    );
    writeFileSync(join(workspace.folder, 'other.json'), JSON.stringify(await placedOrder(returned)));
    workspace.environment.RETURN = (
      await shell(workspace, 'errand return create --file other.json -o id')
    ).stdout.trim();
    await shell(workspace, 'errand sandbox trigger return-approved $RETURN');
  });

  afterAll(() => workspace.remove());

  const newOrder = async (): Promise<string> =>
    (await shell(workspace, 'errand order create --file order.json -o id')).stdout.trim();

  /** Waits until an order is placed. @returns the payload for returning all of it. */
  async function placedOrder(id: string) {
    const { stdout } = await errand(workspace, ['order', 'watch', id, '--until', 'placed', '-o', 'json']);
    const [order] = [JSON.parse(stdout)].flat();
    const items = order.items.map((item: { id: string; quantity: number }) => ({
      order_item_id: item.id,
      quantity: item.quantity,
    }));
    return { order_id: id, items, reason: 'damaged' };
  }

  /** Creates an undecided approval request, under a policy that accepts the key in the home directory, and signs it. */
  async function askForApproval(): Promise<void> {
    workspace.environment.ERRAND_POLICY = join(workspace.folder, 'approvals.yaml');
    requests += 1;
    const lines = [
      "printf 'version: 1\napprove: { above: $1 }\napprovers: [.ssh/id_ed25519.pub]\n' > approvals.yaml",
      'chmod 600 approvals.yaml .ssh/id_ed25519.pub',
      `errand order create --file order.json --po-number ${requests} --new -o json`,
    ];
    const { stderr } = await shell(workspace, lines.join('\n'));
    workspace.environment.APPROVAL = /approval show ([0-9a-f]+)/.exec(stderr)?.[1] ?? stderr;
    await shell(
      workspace,
      'errand approval export $APPROVAL | ssh-keygen -q -Y sign -n errand-approval -f .ssh/id_ed25519 > request.sig',
    );
  }

  async function publishPolicy(): Promise<void> {
    const line = 'errand policy publish policy.yaml --key .ssh/id_ed25519 -o json --query signer';
    workspace.environment.SIGNER = JSON.parse((await shell(workspace, line)).stdout);
  }

  /** Adds an account for the current key, which the auth examples change. */
  async function newAccount(): Promise<string> {
    requests += 1;
    const line = `errand account add --email u${requests}@example.com --password-file password.txt -o id`;
    return (await shell(workspace, line)).stdout.trim();
  }

  async function failedOrder(): Promise<string> {
    const id = await pendingOrder('$1');
    await errand(workspace, ['sandbox', 'trigger', 'failed', id]);
    return id;
  }

  /** An order that stays pending for a minute, however busy the machine. */
  async function pendingOrder(ceiling = '$50'): Promise<string> {
    prefer(workspace, { 'sandbox-speed': 1 });
    const line = `errand order create --file order.json --product $SLOW --max-price '${ceiling}' -o id`;
    return (await shell(workspace, line)).stdout.trim();
  }

  test.each(commands.map(({ path, command }) => [path, command.examples.length] as const))(
    '%s has one to four',
    (_, count) => {
      expect(count).toBeGreaterThanOrEqual(1);
      expect(count).toBeLessThanOrEqual(4);
    },
  );

  test.each(
    examples.filter(
      ([path, line]) => isPossible(path, line) && !endless.test(line) && !line.includes('$KEY'),
    ),
  )('%s: %s', async (path, line) => {
    if (line.includes('$ACCOUNT')) workspace.environment.ACCOUNT = await newAccount();
    if (line.includes('$FAILEDORDER')) workspace.environment.FAILEDORDER = await failedOrder();
    if (path.startsWith('approval')) await askForApproval();
    else delete workspace.environment.ERRAND_POLICY;
    if (ofTeam(path, line)) workspace.environment.ERRAND_DATABASE_URL = (await server().newDatabase()).url;
    else delete workspace.environment.ERRAND_DATABASE_URL;
    if (path === 'policy trust') await publishPolicy();
    if (line.includes('$PENDING')) workspace.environment.PENDING = await pendingOrder();
    const { code, stdout, stderr } = await shell(workspace, soonOver(path, line));
    expect(alsoFine[path] ?? [0], `${line}\n${stdout}${stderr}`).toContain(code);
    if (/\$(?:PENDING|FAILEDORDER)/.test(line)) prefer(workspace, { 'sandbox-speed': speed });
  });
});
