import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { isObject, type JsonObject } from '../../../src/api/json.ts';
import { type Sandbox, startSandbox } from '../../../src/integrations/sdk/sandbox.ts';
import { reset } from '../../../src/sandbox/server/fault-injection.ts';
import type { Habits } from './habits.ts';

/** Two users of one organisation share its orders; the third belongs to another organisation. */
export const users = ['anna', 'ben', 'other'] as const;
export type User = (typeof users)[number];

/**
 * What happens to a request or its response. A `late` request reaches the service when its command has ended; one that is
 * sent `twice`, by something between, is answered with what came of the second.
 */
export const requestFaults = [
  'reset-before',
  'reset-after',
  'half-response',
  '500-before',
  '500-after',
  '502-html-after',
  '429-before',
  'late',
  'twice',
] as const;
export type RequestFault = (typeof requestFaults)[number] | 'none';

/** Point of a request at which a command can be killed; `came` means that the service never gets the request. */
export type Moment = 'came' | 'done';

/** An order as the service itself knows it. */
export interface TrueOrder {
  readonly id: string;
  /** The need that the order was placed for. */
  readonly hidden: string;
  readonly status: string;
  readonly madeAt: number;
  /** When its state last changed, ms since the epoch. */
  readonly changedAt: number;
  /** By the service's own words: neither failed, cancelled nor wholly returned. */
  readonly isLive: boolean;
  readonly isReturned: boolean;
  /** What it holds or has cost, cents. */
  readonly cents: number;
}

interface AcceptedKey {
  readonly at: number;
  readonly epoch: number;
  readonly organisation: Organisation;
  readonly orderId: string | undefined;
}

type Organisation = 'ours' | 'another';

interface Relayed {
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly body: Buffer;
}

/** The service's fee for an order, cents. */
export const feeCents = 100;
/** No order fails for want of money, cents. */
const walletCents = 100_000_000;
/** How often the key of an order is used, ms: it expires after seven days without use, counted by whole days. */
const keyLifeMs = 3 * 24 * 3_600_000;
/** How much time passes with each request, ms. */
const requestMs = 20;

/** The sandbox behind HTTP, with a clock, habits and faults that a history determines. */
export class NeedsService {
  readonly #server: Server;
  #baseUrl = 'http://127.0.0.1:8080';
  readonly #sockets: Duplex[] = [];
  readonly #sandboxes: Readonly<Record<Organisation, Sandbox>>;
  readonly #habits: Habits;
  readonly #clock: { now: number };
  readonly #accepted = new Map<string, AcceptedKey>();
  /** What single orders were placed with, by order. */
  readonly #bodies = new Map<string, JsonObject>();
  /** Keys of orders that were placed without an account, by order. */
  readonly #agentKeys = new Map<string, string>();
  readonly #late: (() => Promise<unknown>)[] = [];
  /** Faults of the next requests that create something, in order. */
  faults: RequestFault[] = [];
  /** Faults of the next other requests. */
  readFaults: RequestFault[] = [];
  /** Called at each moment of a request; true if the command was killed there. */
  onMoment: (moment: Moment, request: IncomingMessage) => Promise<boolean> = async () => false;
  /** Requests received, for the record. */
  readonly received: string[] = [];

  private constructor(
    sandboxes: Readonly<Record<Organisation, Sandbox>>,
    habits: Habits,
    clock: { now: number },
  ) {
    this.#sandboxes = sandboxes;
    this.#habits = habits;
    this.#clock = clock;
    this.#server = createServer((request, response) => {
      this.#handle(request, response).catch(() => response.destroy());
    });
  }

  /** @param clock is the service's; its time passes with each request. */
  static async start(habits: Habits, clock: { now: number }): Promise<NeedsService> {
    const service = await NeedsService.unheard(habits, clock);
    await new Promise<void>((resolve) => service.#server.listen(0, '127.0.0.1', resolve));
    service.#baseUrl = `http://127.0.0.1:${(service.#server.address() as AddressInfo).port}`;
    return service;
  }

  /** A service that listens nowhere: connections are given to it. */
  static async unheard(habits: Habits, clock: { now: number }, start = startSandbox): Promise<NeedsService> {
    const options = (seed: number) =>
      ({
        port: false,
        seed,
        clock: { now: () => clock.now },
        ...(habits.normalises && { faults: ['normalise'] as const }),
      }) as const;
    const [ours, another] = await Promise.all([start(options(1)), start(options(2))]);
    for (const sandbox of [ours, another]) await sandbox.trigger('wallet-funded', { amount: walletCents });
    return new NeedsService({ ours, another }, habits, clock);
  }

  /** Serves a connection. */
  accept(socket: Duplex): void {
    this.#sockets.push(socket);
    this.#server.emit('connection', socket);
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    for (const socket of this.#sockets) socket.destroy();
    // One that listens nowhere has a timer to end all the same.
    await new Promise<void>((resolve) => this.#server.close(() => resolve()));
    await Promise.all(Object.values(this.#sandboxes).map((sandbox) => sandbox.close()));
  }

  get baseUrl(): string {
    return this.#baseUrl;
  }

  get shopUrl(): string {
    return this.#sandboxes.ours.shopUrl;
  }

  get now(): number {
    return this.#clock.now;
  }

  keyOf(user: User, mode: 'test' | 'live' = 'test'): string {
    return `sbx_${mode}_${user.padEnd(43, '0')}`;
  }

  #userOf(authorization = ''): User | undefined {
    const [, basic] = /^Basic (.+)$/.exec(authorization) ?? [];
    const text = basic === undefined ? authorization : Buffer.from(basic, 'base64').toString();
    return users.find((one) => text.includes(this.keyOf(one)) || text.includes(this.keyOf(one, 'live')));
  }

  /** Lets time pass, ms, with all that is due in it. */
  async pass(ms: number): Promise<void> {
    const step = Math.min(ms, keyLifeMs);
    this.#clock.now += step;
    for (const sandbox of Object.values(this.#sandboxes)) await sandbox.advance(0);
    // The keys of orders are used, or they would expire. The sandbox notes each use in a turn of its own.
    await this.agentOrders();
    for (let turns = 0; turns < 4 * this.#agentKeys.size; turns += 1) await turn();
    if (step < ms) await this.pass(ms - step);
  }

  /** Delivers the requests that the network has held back. */
  async deliverLate(): Promise<void> {
    for (const deliver of this.#late.splice(0)) await deliver();
  }

  /** What the service holds, habits and faults aside. */
  async orders(organisation: Organisation = 'ours'): Promise<TrueOrder[]> {
    const sandbox = this.#sandboxes[organisation];
    const { orders } = await ask(sandbox, '/orders?limit=500');
    if (!Array.isArray(orders)) throw new Error('the service did not list its orders');
    const found: TrueOrder[] = [];
    for (const order of orders.filter(isObject)) found.push(await trueOrder(sandbox, order));
    return found.reverse();
  }

  /** The orders that were placed without an account. */
  async agentOrders(): Promise<TrueOrder[]> {
    const { ours } = this.#sandboxes;
    const found: TrueOrder[] = [];
    for (const [id, key] of this.#agentKeys)
      found.push(await trueOrder(ours, await ask(ours, `/orders/${id}`, { key })));
    return found;
  }

  /** What our orders hold and have cost, cents. */
  async cents(): Promise<number> {
    const { orders } = await ask(this.#sandboxes.ours, '/orders?limit=500');
    if (!Array.isArray(orders)) throw new Error('the service did not list its orders');
    return orders.filter(isObject).reduce((sum, order) => sum + centsOf(order), 0);
  }

  /** Does at the service what others than errand do there. */
  async act(method: string, path: string, body?: unknown): Promise<JsonObject> {
    return ask(this.#sandboxes.ours, path, { method, body });
  }

  /** Somebody orders by the service's own means. */
  async order(body: JsonObject): Promise<JsonObject> {
    return this.#placed(this.#sandboxes.ours, body);
  }

  async cancel(id: string): Promise<JsonObject> {
    const key = this.#agentKeys.get(id);
    return ask(this.#sandboxes.ours, `/orders/${id}/cancel`, { method: 'POST', ...(key && { key }) });
  }

  async trigger(event: 'failed' | 'delivered' | 'placed' | 'return-approved', id: string): Promise<boolean> {
    try {
      await this.#sandboxes.ours.trigger(event, id);
      return true;
    } catch {
      return false;
    }
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    this.#clock.now += requestMs;
    this.received.push(`${request.method} ${request.url}`);
    const isCreate = request.method === 'POST' && creates.test(request.url ?? '') && !isForPrice(request);
    const fault = (isCreate ? this.faults : this.readFaults).shift() ?? 'none';
    if (await this.onMoment('came', request)) return void response.destroy();
    if (fault === 'late') {
      this.#late.push(() => this.#serve(request, body));
      return reset(response.socket);
    }
    response.sendDate = false;
    response.setHeader('date', new Date(this.now).toUTCString());
    if (fault.endsWith('-before')) return spoil(fault, response, undefined);
    // A retry by v1 has no key that would tell the two apart.
    if (fault === 'twice' && !request.url?.startsWith('/v1/')) await this.#serve(request, body);
    const relayed = await this.#serve(request, body);
    if (await this.onMoment('done', request)) return void response.destroy();
    return spoil(fault, response, relayed, (this.now % 101) / 101);
  }

  /** The service's response, with its habits. */
  async #serve({ method = 'GET', url = '/', headers }: IncomingMessage, body: Buffer): Promise<Relayed> {
    const user = this.#userOf(headers.authorization);
    if (!user || url.startsWith('/agent/')) return this.#withoutAccount(method, url, headers, body);
    const organisation: Organisation = user === 'other' ? 'another' : 'ours';
    const sandbox = this.#sandboxes[organisation];
    const send = (target: string, sent: Buffer | undefined): Promise<Relayed> =>
      relay(sandbox, method, target, sent);
    if (method === 'POST' && url === '/orders') return this.#order(user, organisation, body, send);
    const [, retried] = /^\/v1\/orders\/([\w-]+)\/retry$/.exec(url) ?? [];
    if (retried !== undefined) return this.#retry(sandbox, retried);
    if (method === 'POST' && url === '/orders/bulk')
      return send(url, this.#rowsKeyed(user, organisation, body));
    if (method === 'GET') {
      const read = await send(this.#lagging(url), undefined);
      return this.#hiding(url, read);
    }
    return send(url, body.length > 0 ? body : undefined);
  }

  /** Remembers the key of each order that is paid by a challenge. */
  async #withoutAccount(
    method: string,
    url: string,
    { authorization = '' }: IncomingMessage['headers'],
    body: Buffer,
  ): Promise<Relayed> {
    const sent = method === 'GET' || body.length === 0 ? undefined : body;
    const relayed = await relay(this.#sandboxes.ours, method, url, sent, authorization);
    const key = relayed.headers['x-api-key'];
    if (relayed.status !== 201 || key === undefined) return relayed;
    const order: unknown = JSON.parse(relayed.body.toString());
    if (isObject(order)) this.#agentKeys.set(String(order.id), key);
    return relayed;
  }

  /** By v1, whose requests have no key: each makes an order. */
  async #retry(sandbox: Sandbox, id: string): Promise<Relayed> {
    const { status } = await ask(sandbox, `/orders/${id}`);
    if (status !== 'order_failed')
      return json(400, { code: 'bad_request', message: `The order is ${status}.`, details: {} });
    const made = await this.#placed(sandbox, this.#bodies.get(id) ?? {});
    return json(200, { request_id: made.id });
  }

  /** Places an order without a key. */
  async #placed(sandbox: Sandbox, body: JsonObject): Promise<JsonObject> {
    const order = await ask(sandbox, '/orders', { method: 'POST', body });
    this.#bodies.set(String(order.id), body);
    return order;
  }

  /** Applies the habits of keys to one order. */
  async #order(
    user: User,
    organisation: Organisation,
    body: Buffer,
    send: (target: string, body: Buffer) => Promise<Relayed>,
  ): Promise<Relayed> {
    const order: unknown = JSON.parse(body.toString());
    const key = isObject(order) ? order.idempotency_key : undefined;
    if (!isObject(order) || typeof key !== 'string') return send('/orders', body);
    const scope = this.#scopeOf(user, organisation);
    const before = this.#remembered(scope, key);
    if (before && before.organisation !== organisation && before.orderId !== undefined)
      return this.#existing(before.orderId);
    const inner = this.#innerKey(scope, key);
    const relayed = await send('/orders', Buffer.from(JSON.stringify({ ...order, idempotency_key: inner })));
    const answer: unknown = JSON.parse(relayed.body.toString());
    if (relayed.status === 201 && isObject(answer)) {
      const { idempotency_key: _, ...unkeyed } = order;
      this.#bodies.set(String(answer.id), unkeyed);
      this.#accept(scope, key, organisation, String(answer.id));
    }
    if (relayed.status === 409 && this.#habits.hidesExisting) return this.#existing(undefined);
    return relayed;
  }

  #existing(id: string | undefined): Relayed {
    const details =
      id === undefined || this.#habits.hidesExisting ? {} : { resource: 'order', identifier: id };
    return json(409, { code: 'already_exists', message: 'This key was used before.', details });
  }

  #rowsKeyed(user: User, organisation: Organisation, body: Buffer): Buffer {
    const upload: unknown = JSON.parse(body.toString());
    if (!isObject(upload) || !Array.isArray(upload.rows)) return body;
    const scope = this.#scopeOf(user, organisation);
    const rows = upload.rows.filter(isObject).map((row) => {
      const key = row.idempotency_key;
      if (typeof key !== 'string' || key === '') return row;
      const inner = this.#innerKey(scope, key);
      if (!this.#remembered(scope, key)) this.#accept(scope, key, organisation, undefined);
      return { ...row, idempotency_key: inner };
    });
    return Buffer.from(JSON.stringify({ ...upload, rows }));
  }

  #scopeOf(user: User, organisation: Organisation): string {
    const { keysOf } = this.#habits;
    return keysOf === 'everyone' ? '' : keysOf === 'organisation' ? organisation : user;
  }

  #remembered(scope: string, key: string): AcceptedKey | undefined {
    const found = this.#accepted.get(`${scope}\n${key}`);
    const { forgetsKeysMs } = this.#habits;
    return found && (forgetsKeysMs === undefined || this.now - found.at < forgetsKeysMs) ? found : undefined;
  }

  #accept(scope: string, key: string, organisation: Organisation, orderId: string | undefined): void {
    const name = `${scope}\n${key}`;
    const known = this.#accepted.get(name);
    if (this.#remembered(scope, key)) return;
    this.#accepted.set(name, { at: this.now, epoch: (known?.epoch ?? -1) + 1, organisation, orderId });
  }

  /** The sandbox remembers keys for good and among the orders of one user: a key that counts anew is another there. */
  #innerKey(scope: string, key: string): string {
    const known = this.#accepted.get(`${scope}\n${key}`);
    const epoch = known === undefined ? 0 : this.#remembered(scope, key) ? known.epoch : known.epoch + 1;
    return createHash('sha256').update(`${scope}\n${key}\n${epoch}`).digest('hex').slice(0, 36);
  }

  #lagging(target: string): string {
    const { lagMs } = this.#habits;
    const url = new URL(target, 'http://service');
    if (lagMs === 0 || url.pathname !== '/orders') return target;
    const until = new Date(this.now - lagMs).toISOString();
    const given = url.searchParams.get('created_before');
    if (given === null || Date.parse(given) > Date.parse(until))
      url.searchParams.set('created_before', until);
    return `${url.pathname}${url.search}`;
  }

  #hiding(target: string, read: Relayed): Relayed {
    const { hidesExisting, hidesRowColumns } = this.#habits;
    if (!/^\/orders\/bulk\/[^/]+$/.test(target) || !(hidesExisting || hidesRowColumns)) return read;
    const batch: unknown = JSON.parse(read.body.toString());
    if (!isObject(batch) || !Array.isArray(batch.rows)) return read;
    const rows = batch.rows.filter(isObject).map((row) => {
      if (typeof row.error !== 'string') return row;
      const error = hidesExisting ? row.error.replace(/ It is order .*/, '') : row.error;
      return { ...row, error, ...(hidesRowColumns && { passthrough: {} }) };
    });
    return json(read.status, { ...batch, rows });
  }
}

const creates = /^\/(?:orders|orders\/bulk|returns|agent\/orders(?:\?.*)?|v1\/orders\/[\w-]+\/retry)$/;

/** Whether a request asks for what is to be paid. */
const isForPrice = ({ url = '', headers }: IncomingMessage): boolean =>
  url.startsWith('/agent/') && !headers.authorization?.startsWith('Payment ');

/** A turn of Node's loop. */
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

async function trueOrder(sandbox: Sandbox, order: JsonObject): Promise<TrueOrder> {
  const status = String(order.status);
  const isReturned =
    Array.isArray(order.returns) && order.returns.length > 0 && (await isWhollyReturned(sandbox, order));
  return {
    id: String(order.id),
    hidden: hiddenIn(order),
    status,
    madeAt: Date.parse(String(order.created_at)),
    changedAt: Date.parse(String(order.updated_at)),
    isLive: !isReturned && !['order_failed', 'cancelled', 'cancelled_by_retailer'].includes(status),
    isReturned,
    cents: centsOf(order),
  };
}

function centsOf({ status, max_price: ceiling, job_result: result }: JsonObject): number {
  if (status === 'pending' || status === 'in_progress') return Number(ceiling) + feeCents;
  const { total = 0 } = Object(Object(result).price_components);
  return status === 'order_placed' ? Number(total) + feeCents : 0;
}

const hiddenIn = (order: JsonObject): string =>
  isObject(order.metadata) && typeof order.metadata.hidden === 'string' ? order.metadata.hidden : '?';

async function isWhollyReturned(sandbox: Sandbox, order: JsonObject): Promise<boolean> {
  const { return_requests: returns } = await ask(sandbox, `/returns?limit=100&search=${String(order.id)}`);
  const back = new Map<string, number>();
  for (const one of Array.isArray(returns) ? returns.filter(isObject) : []) {
    if (!['approved', 'completed', 'credited'].includes(String(one.status))) continue;
    for (const line of Array.isArray(one.items) ? one.items.filter(isObject) : [])
      back.set(
        String(line.order_item_id),
        (back.get(String(line.order_item_id)) ?? 0) + Number(line.quantity),
      );
  }
  const items = Array.isArray(order.items) ? order.items.filter(isObject) : [];
  return items.every(({ id, quantity }) => (back.get(String(id)) ?? 0) >= Number(quantity ?? 1));
}

/** @throws Error if the service refuses. */
async function ask(
  sandbox: Sandbox,
  path: string,
  {
    method = 'GET',
    body,
    key = sandbox.apiKey,
  }: { readonly method?: string; readonly body?: unknown; readonly key?: string } = {},
): Promise<JsonObject> {
  const sent = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  const { status, body: text } = await relay(sandbox, method, path, sent, `Bearer ${key}`);
  if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text.toString()}`);
  const answer: unknown = text.length === 0 ? {} : JSON.parse(text.toString());
  return isObject(answer) ? answer : {};
}

async function relay(
  sandbox: Sandbox,
  method: string,
  target: string,
  body: Buffer | undefined,
  authorization = `Bearer ${sandbox.apiKey}`,
): Promise<Relayed> {
  const response = await sandbox.fetch(target, {
    method,
    headers: {
      ...(authorization !== '' && { authorization }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: new Uint8Array(body) }),
    redirect: 'manual',
  });
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: Buffer.from(await response.arrayBuffer()),
  };
}

const json = (status: number, body: object): Relayed => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: Buffer.from(JSON.stringify(body)),
});

const failures: Readonly<Record<string, Relayed>> = {
  '500': json(500, { code: 'internal_error', message: 'no', details: {} }),
  '502': { status: 502, headers: { 'content-type': 'text/html' }, body: Buffer.from('<h1>Bad gateway</h1>') },
  '429': {
    ...json(429, { code: 'rate_limit_exceeded', message: 'no', details: {} }),
    headers: { 'content-type': 'application/json', 'retry-after': '0' },
  },
};

/** @param share of a response that comes before its connection breaks. */
function spoil(
  fault: RequestFault,
  response: ServerResponse,
  relayed: Relayed | undefined,
  share = 0.5,
): void {
  if (fault.startsWith('reset')) {
    reset(response.socket);
    return;
  }
  if (fault === 'half-response' && relayed) {
    const part = relayed.body.subarray(0, Math.floor(relayed.body.length * share));
    response.writeHead(relayed.status, {
      ...relayed.headers,
      'content-length': Math.max(1, relayed.body.length),
    });
    response.write(part, () => response.destroy());
    return;
  }
  const { status, headers, body } = failures[fault.slice(0, 3)] ?? relayed ?? json(500, {});
  const { 'content-length': _, 'transfer-encoding': __, connection: ___, ...rest } = headers;
  response.writeHead(status, { ...rest, ...(status !== 204 && { 'content-length': body.length }) });
  response.end(body);
}
