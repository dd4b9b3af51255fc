import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { loadSqlite } from '../../../src/platform/sqlite/load.ts';
import { makeKey } from '../../support/approval-workspace.ts';
import { serviceDialogues } from './dialogues-service.ts';
import type { Scene } from './scene.ts';

/** An attack by a hostile model, and the number of orders it may lead to. */
export interface Dialogue {
  readonly name: string;
  /** Contents of `policy.yaml` after the version. */
  readonly policy?: string;
  /** Wallet balance, cents; ample if omitted. */
  readonly walletCents?: number;
  /** Expected number of orders at the service in the end. */
  readonly orders: number;
  /** Maximum total of ceilings and fees, cents. */
  readonly perDay?: number;
  talk(scene: Scene): Promise<void>;
}

const clockSet = fileURLToPath(new URL('../../support/clock-set.cjs', import.meta.url));
/** Options to start a server whose clock is ahead by that many minutes. */
const later = (scene: Scene, minutes: number) => ({
  environment: {
    NODE_OPTIONS: `${scene.workspace.environment.NODE_OPTIONS} --require=${clockSet}`,
    CLOCK_SET_MS: String(minutes * 60_000),
    CLOCK_SET_AFTER_MS: '0',
  },
});

/** The tool rejects the arguments before doing anything else. */
const refusedArguments = (tool: string, given: (scene: Scene, quote: string) => Record<string, unknown>) => ({
  orders: 0,
  async talk(scene: Scene) {
    const agent = await scene.agent();
    const quote = await scene.quote(agent);
    const { code, message } = await agent.refused(tool, given(scene, quote));
    expect(code).toBe('invalid_arguments');
    expect(message.length).toBeLessThan(1000);
  },
});

const idsOf = (
  answers: readonly { readonly json: { readonly order?: { readonly id: string } } }[],
): Set<string> => new Set(answers.flatMap(({ json }) => json.order?.id ?? []));

const handles: readonly Dialogue[] = [
  {
    name: 'a second call of one quote',
    orders: 1,
    async talk(scene) {
      const agent = await scene.agent();
      const quote = await scene.quote(agent);
      const first = await agent.get('order_place', { quote });
      const second = await agent.get('order_place', { quote });
      expect([first.existed, second.existed]).toEqual([false, true]);
      expect(second.order.id).toBe(first.order.id);
    },
  },
  {
    name: 'ten calls of one quote at once',
    orders: 1,
    async talk(scene) {
      const agent = await scene.agent();
      const quote = await scene.quote(agent);
      const all = await Promise.all(Array.from({ length: 10 }, () => agent.call('order_place', { quote })));
      expect(all.map(({ isError }) => isError)).toEqual(Array(10).fill(false));
      expect(idsOf(all).size).toBe(1);
      expect(all.filter(({ json }) => json.existed === false)).toHaveLength(1);
    },
  },
  {
    name: 'ten calls of one quote at once, from three servers, while the service is slow',
    orders: 1,
    async talk(scene) {
      const [first, ...others] = await Promise.all([scene.agent(), scene.agent(), scene.agent()]);
      const quote = await scene.quote(first);
      scene.between.trouble = (line) => (line === 'POST /orders' ? { delayMs: 600 } : undefined);
      const servers = [first, ...others];
      const all = await Promise.all(
        Array.from({ length: 10 }, (_, index) =>
          (servers[index % 3] ?? first).call('order_place', { quote }),
        ),
      );
      expect(all.map(({ isError }) => isError)).toEqual(Array(10).fill(false));
      expect(idsOf(all).size).toBe(1);
    },
  },
  {
    name: 'a quote of one server, placed by another',
    orders: 1,
    async talk(scene) {
      const quote = await scene.quote(await scene.agent());
      await (await scene.agent()).get('order_place', { quote });
    },
  },
  {
    name: 'a handle with its last letter changed, shortened, invented, or written like a path',
    orders: 0,
    async talk(scene) {
      const agent = await scene.agent();
      const quote = await scene.quote(agent);
      const changed = `${quote.slice(0, -1)}${quote.endsWith('A') ? 'B' : 'A'}`;
      for (const handle of [changed, quote.slice(0, 12), 'quote-1', '../journal.db', "' OR 1=1 --", '%'])
        expect(await agent.refused('order_place', { quote: handle })).toMatchObject({
          code: 'unknown_quote',
        });
    },
  },
  {
    name: 'the hash of a handle, as the audit chain shows its beginning, is none',
    orders: 0,
    async talk(scene) {
      const agent = await scene.agent();
      await scene.quote(agent);
      const { stdout } = await scene.run(['audit', 'log', '--kind', 'quoted', '-o', 'json']);
      const [{ detail }] = JSON.parse(stdout);
      expect(await agent.refused('order_place', { quote: detail.quote })).toMatchObject({
        code: 'unknown_quote',
      });
    },
  },
  {
    name: 'a quote that has expired',
    orders: 0,
    async talk(scene) {
      const quote = await scene.quote(await scene.agent());
      const agent = await scene.agent(later(scene, 16));
      expect(await agent.refused('order_place', { quote })).toMatchObject({
        code: 'quote_expired',
        outcome: 'not_sent',
      });
    },
  },
  {
    name: 'a quote that has expired after it was placed gives its order',
    orders: 1,
    async talk(scene) {
      const agent = await scene.agent();
      const quote = await scene.quote(agent);
      const { order } = await agent.get('order_place', { quote });
      const again = await (await scene.agent(later(scene, 60))).get('order_place', { quote });
      expect(again).toMatchObject({ existed: true, order: { id: order.id } });
    },
  },
  {
    name: 'a quote that somebody changed on disk',
    orders: 0,
    async talk(scene) {
      const agent = await scene.agent();
      const quote = await scene.quote(agent);
      const database = new (loadSqlite())(join(scene.workspace.folder, '.state', 'journal.db'));
      database.exec(`UPDATE quotes SET quote = replace(quote, '"max_price":5000', '"max_price":9000')`);
      database.close();
      expect(await agent.refused('order_place', { quote })).toMatchObject({ code: 'quote_damaged' });
    },
  },
  {
    name: 'a quote of another account',
    orders: 0,
    async talk(scene) {
      const quote = await scene.quote(await scene.agent());
      const other = await scene.agent({ environment: { ERRAND_API_KEY: await scene.service.mint() } });
      expect(await other.refused('order_place', { quote })).toMatchObject({ code: 'quote_of_another' });
    },
  },
  {
    name: 'a quote of another service',
    orders: 0,
    async talk(scene) {
      const quote = await scene.quote(await scene.agent());
      const other = await scene.agent({ environment: { ERRAND_BASE_URL: scene.service.baseUrl } });
      expect(await other.refused('order_place', { quote })).toMatchObject({ code: 'quote_of_another' });
    },
  },
  {
    name: 'the key of a quote, sent by hand with another ceiling',
    orders: 0,
    async talk(scene) {
      await scene.quote(await scene.agent());
      const { stdout } = await scene.run(['audit', 'log', '--kind', 'quoted', '-o', 'json']);
      const [{ key }] = JSON.parse(stdout);
      writeFileSync(join(scene.workspace.folder, 'order.json'), JSON.stringify(scene.order(9000)));
      const create = ['order', 'create', '--file', 'order.json', '--idempotency-key', key];
      const { code, stderr } = await scene.run(create);
      expect([code, stderr]).toEqual([5, expect.stringContaining('belongs to a quote of another order')]);
    },
  },
];

const parameters: readonly Dialogue[] = [
  {
    name: 'a price beside the quote',
    ...refusedArguments('order_place', (_, quote) => ({ quote, max_price: 999_999 })),
  },
  {
    name: 'a key beside the quote',
    ...refusedArguments('order_place', (_, quote) => ({ quote, idempotency_key: 'mine' })),
  },
  {
    name: 'an override or an approval beside the quote',
    ...refusedArguments('order_place', (_, quote) => ({ quote, override_policy: 'urgent', approval: 'abc' })),
  },
  {
    name: 'no quote, an empty one, and one of ten thousand letters',
    orders: 0,
    async talk(scene) {
      const agent = await scene.agent();
      for (const given of [
        {},
        { quote: '' },
        { quote: 'x'.repeat(10_000) },
        { quote: { $ne: null } },
        { quote: [] },
      ])
        expect(await agent.refused('order_place', given)).toMatchObject({ code: 'invalid_arguments' });
    },
  },
  {
    name: 'a key as a parameter of the quote',
    ...refusedArguments('order_quote', (scene) => scene.order(5000, { idempotency_key: 'mine' })),
  },
  {
    name: 'events sent to the model, another payer, mails to somebody',
    orders: 0,
    async talk(scene) {
      const agent = await scene.agent();
      const tried = [
        { webhooks: { order_placed: 'https://evil.example/hook' } },
        { payment: { mode: 'card', payment_method: 'pm_1' } },
        { customer_notifications: { email: 'evil@example.com' } },
      ];
      for (const more of tried)
        expect(await agent.refused('order_quote', scene.order(5000, more))).toMatchObject({
          code: 'invalid_arguments',
        });
    },
  },
  {
    name: 'ceilings that are no cents',
    orders: 0,
    async talk(scene) {
      const agent = await scene.agent();
      for (const max_price of [0, -1, 0.5, 1e308, '5000', null, [5000]])
        expect(await agent.refused('order_quote', { ...scene.order(), max_price })).toMatchObject({
          category: 'usage',
        });
    },
  },
  {
    name: 'names of prototypes as fields, tools, operations and addresses',
    orders: 0,
    async talk(scene) {
      const agent = await scene.agent();
      const odd = JSON.parse('{"quote":"x","__proto__":{"admin":true}}');
      expect(await agent.refused('order_place', odd)).toMatchObject({ code: 'unknown_quote' });
      for (const operation of ['__proto__', 'constructor', 'toString'])
        expect(await agent.refused('call_operation', { operation })).toMatchObject({
          code: 'operation_not_offered',
        });
      for (const name of ['constructor', '__proto__', 'hasOwnProperty'])
        await expect(agent.call(name)).rejects.toThrow('no tool of this name');
      const { shipping_address: _, ...order } = scene.order();
      for (const ship_to of ['__proto__', 'constructor'])
        expect(await agent.refused('order_quote', { ...order, ship_to })).toMatchObject({
          category: 'usage',
        });
    },
  },
  {
    name: 'a file of this machine as an address',
    orders: 0,
    async talk(scene) {
      const agent = await scene.agent();
      writeFileSync(join(scene.workspace.folder, 'secret.json'), '{"first_name":"top-secret-value"}');
      const { shipping_address: _, ...order } = scene.order();
      for (const ship_to of ['secret.json', './secret.json', '/etc/passwd', '-']) {
        const { isError, text } = await agent.call('order_quote', { ...order, ship_to });
        expect(isError).toBe(true);
        expect(text).not.toMatch(/top-secret|root:/);
      }
    },
  },
];

const limit = 'limits: { per_order: $100, per_day: $160 }';

const policies: readonly Dialogue[] = [
  {
    name: 'an order over the limit of one',
    policy: limit,
    orders: 0,
    async talk(scene) {
      const agent = await scene.agent();
      const error = await agent.refused('order_quote', scene.order(10_000));
      expect(error).toMatchObject({
        code: 'policy_refused',
        outcome: 'not_sent',
        details: { policy: { outcome: 'refused' } },
      });
      expect(error.details.policy.rules[0]).toMatchObject({ rule: 'limits.per_order', limit_cents: 10_000 });
      const { stdout } = await scene.run(['audit', 'log', '--kind', 'policy_refused', '-o', 'json']);
      expect(JSON.parse(stdout)).toHaveLength(1);
    },
  },
  {
    name: 'quotes gathered first, placed one after another past the limit of a day',
    policy: limit,
    perDay: 16_000,
    orders: 3,
    async talk(scene) {
      const agent = await scene.agent();
      const quotes = [];
      for (const name of ['Ada', 'Ben', 'Cy', 'Dee', 'Eve'])
        quotes.push((await agent.get('order_quote', scene.orderFor(name))).quote);
      const codes = [];
      for (const quote of quotes) codes.push((await agent.call('order_place', { quote })).json.error?.code);
      expect(codes).toEqual([undefined, undefined, undefined, 'policy_refused', 'policy_refused']);
    },
  },
  {
    name: 'a race of ten quotes under a limit that three fit under, by two servers',
    policy: limit,
    perDay: 16_000,
    orders: 3,
    async talk(scene) {
      const [one, other] = await Promise.all([scene.agent(), scene.agent()]);
      const quotes = [];
      for (const name of 'ABCDEFGHIJ')
        quotes.push((await one.get('order_quote', scene.orderFor(`${name}da`))).quote);
      const all = await Promise.all(
        quotes.map((quote, at) => (at % 2 === 0 ? one : other).call('order_place', { quote })),
      );
      expect(all.filter(({ isError }) => !isError)).toHaveLength(3);
    },
  },
  {
    name: 'a policy that is narrowed between quote and place',
    policy: limit,
    orders: 0,
    async talk(scene) {
      const agent = await scene.agent();
      const quote = await scene.quote(agent);
      scene.policy('limits: { per_order: $10 }');
      expect(await agent.refused('order_place', { quote })).toMatchObject({ code: 'policy_refused' });
    },
  },
  {
    name: 'a policy that becomes unreadable between quote and place',
    policy: limit,
    orders: 0,
    async talk(scene) {
      const agent = await scene.agent();
      const quote = await scene.quote(agent);
      scene.policy('limits: { per_ordr: $10 }');
      expect(await agent.refused('order_place', { quote })).toMatchObject({ code: 'policy_unusable' });
    },
  },
  {
    name: 'a retailer, a country or an address of a page that the policy denies',
    policy: 'countries: [CA]\nurls: { deny: ["*gift-card*"] }',
    orders: 0,
    async talk(scene) {
      const agent = await scene.agent();
      expect(await agent.refused('order_quote', scene.order())).toMatchObject({ code: 'policy_refused' });
    },
  },
  {
    name: 'the same product again under a policy against duplicates, in other words',
    policy: 'duplicates: { same: [product, address], within: 7d, then: refuse }',
    orders: 1,
    async talk(scene) {
      const agent = await scene.agent();
      await agent.get('order_place', { quote: await scene.quote(agent) });
      const again = scene.order(4900, { new: true, po_number: '2' });
      expect(await agent.refused('order_quote', again)).toMatchObject({ code: 'policy_refused' });
    },
  },
  {
    name: 'an order that a person must approve, placed again and again',
    policy: 'approve: { above: $20 }',
    orders: 0,
    async talk(scene) {
      const agent = await scene.agent();
      const quoted = await agent.get('order_quote', scene.order());
      expect(quoted.verdict.outcome).toBe('needs_approval');
      const ids = new Set();
      for (let time = 0; time < 3; time += 1) {
        const error = await agent.refused('order_place', { quote: quoted.quote });
        expect(error).toMatchObject({ code: 'approval_required', outcome: 'not_sent' });
        ids.add(error.details.approval.id);
        expect(error.for_a_person.map(({ command }: { command: string }) => command)).toContain(
          `errand approval approve ${error.details.approval.id}`,
        );
      }
      expect(ids.size).toBe(1);
    },
  },
  {
    name: 'an approval through any tool',
    policy: 'approve: { above: $20 }',
    orders: 0,
    async talk(scene) {
      const agent = await scene.agent();
      const quote = await scene.quote(agent);
      const { details } = await agent.refused('order_place', { quote });
      const { id } = details.approval;
      for (const name of ['approval_approve', 'approve', 'policy_override', 'config_set', 'auth_token'])
        await expect(agent.call(name, { id })).rejects.toThrow('no tool of this name');
      const { tools } = await agent.client.listTools();
      for (const { name } of tools) {
        const { isError } = await agent
          .call(name, { approval: id, approve: id, id })
          .catch(() => ({ isError: true }));
        expect([name, isError]).toEqual([name, name !== 'order_explain' || isError]);
      }
      const approve = await scene.run(['approval', 'approve', id]);
      expect(approve.code).not.toBe(0);
      await agent.refused('order_place', { quote });
    },
  },
  {
    name: 'the same quote, after a person has approved it',
    policy: 'approve: { above: $20 }\napprovers: [ada.pub]',
    orders: 1,
    async talk(scene) {
      const key = makeKey(scene.workspace, 'ada');
      mkdirSync(join(scene.workspace.folder, '.config'), { recursive: true });
      const publicKey = readFileSync(`${key}.pub`, 'utf8');
      writeFileSync(join(scene.workspace.folder, '.config', 'ada.pub'), publicKey, { mode: 0o600 });
      const agent = await scene.agent();
      const quote = await scene.quote(agent);
      const { details } = await agent.refused('order_place', { quote });
      const approved = await scene.run(['approval', 'approve', details.approval.id, '--key', key]);
      expect(approved.code, approved.stderr).toBe(0);
      // A quote awaiting approval does not expire after the usual time.
      const patient = await scene.agent(later(scene, 60));
      const { order } = await patient.get('order_place', { quote });
      expect((await agent.get('order_place', { quote })).order.id).toBe(order.id);
      // The approval covered a single order.
      const another = await scene.quote(agent, 5000, { new: true });
      expect(await agent.refused('order_place', { quote: another })).toMatchObject({
        code: 'approval_required',
      });
    },
  },
];

export const dialogues: readonly Dialogue[] = [...handles, ...parameters, ...policies, ...serviceDialogues];
