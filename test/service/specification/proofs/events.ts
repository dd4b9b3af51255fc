import { expect } from 'vitest';
import type { TestService } from '../../../support/service.ts';
import { type Hook, type Receiver, withReceiver } from '../hooks.ts';
import { type Proof, type ProofsOf, proof } from '../proof.ts';
import type { eventRows } from '../rows/events.ts';
import { ask, ordered, read } from '../scenes.ts';

type Work = (it: TestService, receiver: Receiver) => Promise<void>;

const received = (shows: string, work: Work): Proof =>
  proof(shows, (it) => withReceiver(it, (receiver) => work(it, receiver)));

const register = (it: TestService, url: string) => it.send('POST', '/users', { webhook_url: url });

/** Registers, orders, and waits for a matching hook with this event; its body is the order. */
const comes = (event: string, slug: string, isIt: (body: Hook['body']) => boolean): Proof =>
  received('comes with the order record', async (it, { url, hooks, until }) => {
    await register(it, url);
    const { id } = (await it.order(slug)).body;
    await until(() => hooks.some((hook) => hook.event === event && hook.body.id === id && isIt(hook.body)));
  });

/** Checks that both `name` and its older synonym select the event in an order's own webhooks. */
const synonymous = (name: string, synonym: string, slug: string, status: string): Proof =>
  received(`comes under ${name} and ${synonym}`, async (it, { url, hooks, until }) => {
    const webhooks = { [name]: `${url}/new`, [synonym]: `${url}/old` };
    const { id } = (await it.order(slug, { webhooks })).body;
    await until(() => hooks.length === 2);
    expect(hooks.map(({ target }) => target).toSorted()).toEqual(['/hook/new', '/hook/old']);
    for (const { event, body } of hooks) expect([event, body.id, body.status]).toEqual([name, id, status]);
  });

export const eventProofs: ProofsOf<typeof eventRows> = {
  'event request_succeeded': synonymous('request_succeeded', 'order_placed', 'test-success', 'order_placed'),
  'event request_failed': synonymous('request_failed', 'order_failed', 'test-out-of-stock', 'order_failed'),
  'event tracking_obtained': received('comes once, with both parcels', async (it, { url, hooks, until }) => {
    await register(it, url);
    await it.order('test-two-packages');
    const delivered = (body: Hook['body']) =>
      body.tracking_numbers.filter(({ status }: { status: string }) => status === 'delivered').length === 2;
    await until(() => hooks.some(({ body }) => delivered(body)));
    const obtained = hooks.filter(({ event }) => event === 'tracking_obtained');
    expect(obtained.map(({ body }) => body.tracking_numbers.length)).toEqual([2]);
  }),
  'event tracking_updated': comes(
    'tracking_updated',
    'test-success',
    ({ tracking_numbers }) => tracking_numbers[0].status === 'delivered',
  ),
  'event status_updated': comes('status_updated', 'test-success', ({ status }) => status === 'in_progress'),
  'event case_updated': received('comes as a return moves on', async (it, { url, hooks, until }) => {
    const order = await ordered(it);
    await register(it, url);
    await ask(it, order);
    await until(() => hooks.filter(({ event }) => event === 'case_updated').length >= 2);
    expect(hooks.at(-1)?.body.id).toBe(order.id);
  }),
  'event rule 1': received('only the event that has an address comes', async (it, { url, hooks, until }) => {
    const { id } = (await it.order('test-success', { webhooks: { tracking_obtained: url } })).body;
    const { id: silent } = (await it.order('test-success')).body;
    await until(() => hooks.length > 0);
    it.pass(60_000);
    await read(it, `/orders/${silent}`);
    await it.order('test-success', { webhooks: { tracking_obtained: url } });
    await until(() => hooks.length > 1);
    expect(hooks.map(({ event }) => event)).toEqual(['tracking_obtained', 'tracking_obtained']);
    expect(hooks[0]?.body.id).toBe(id);
  }),
  'event rule 2': received('each of three is called', async (it, { url, hooks, until }) => {
    const request_succeeded = [1, 2, 3].map((at) => `${url}/${at}`);
    await it.order('test-success', { webhooks: { request_succeeded } });
    await until(() => hooks.length === 3);
    expect(hooks.map(({ target }) => target).toSorted()).toEqual(['/hook/1', '/hook/2', '/hook/3']);
  }),
  'event rule 3': received('one that got a 500 comes again', async (it, { url, hooks, responses, until }) => {
    responses.push(500);
    await it.order('test-success', { webhooks: { request_succeeded: url } });
    await until(() => hooks.length === 2);
    expect(hooks[1]?.body).toEqual(hooks[0]?.body);
  }),
  'event rule 4': received(
    'the query comes along, a signature does not',
    async (it, { url, hooks, until }) => {
      await register(it, `${url}?secret=s3cret`);
      await it.order('test-success');
      await until(() => hooks.length > 0);
      expect(hooks[0]?.target).toBe('/hook?secret=s3cret');
      expect(Object.keys(hooks[0]?.headers ?? {}).filter((name) => name.includes('signature'))).toEqual([]);
    },
  ),
  'event rule 5': comes(
    'request_failed',
    'test-invalid-variant',
    ({ error_type }) => error_type === 'invalid_variant',
  ),
};
