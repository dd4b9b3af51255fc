import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';

/**
 * A small shop that buys what it sells at the service, when it is sold: written against the service's interface alone, with
 * plain fetch. A sale has a number of the shop's own, which is the order's idempotency key, so that a sale that is sent twice
 * is bought once.
 */
export class Shop {
  #service;
  /** Webhooks are not signed: a secret in their address keeps others out, and what they say is read again at the service. */
  #secret = randomUUID();
  #sales = new Map();
  /** Ids of webhooks that came: one may come more than once. */
  #seen = new Set();
  #server = createServer((request, response) => this.#serve(request, response));

  /** @param {{ baseUrl: string, apiKey: string }} service */
  constructor(service) {
    this.#service = service;
  }

  /** Opens it on a free port, and has the service tell it what becomes of its orders. @returns its address. */
  async open() {
    await new Promise((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${this.#server.address().port}`;
    await this.#call('POST', '/users', { webhook_url: `${url}/hooks?secret=${this.#secret}` });
    return url;
  }

  close() {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(resolve));
  }

  async #serve(request, response) {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const text = Buffer.concat(chunks).toString();
    const { status, body } = await this.#respond(request, text === '' ? {} : JSON.parse(text)).catch(
      (error) => ({ status: 502, body: { message: error.message } }),
    );
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }

  async #respond({ method, url, headers }, body) {
    const { pathname, searchParams } = new URL(url, 'http://shop');
    const [, collection, number, action] = pathname.split('/');
    const route = `${method} ${collection}${action === undefined ? '' : ` ${action}`}`;
    if (route === 'GET catalogue') return this.#catalogue(searchParams.get('q') ?? '');
    if (route === 'PUT sales') return this.#sell(number, body);
    if (route === 'POST hooks') return this.#hear(searchParams.get('secret'), headers['x-webhook-id'], body);
    const sale = this.#sales.get(number);
    if (!sale) return { status: 404, body: { message: 'There is no such sale.' } };
    if (route === 'GET sales') return { status: 200, body: sale };
    if (route === 'POST sales return') return this.#takeBack(sale, body.reason);
    return { status: 405, body: { message: 'The shop does not do that.' } };
  }

  async #catalogue(q) {
    const { status, body } = await this.#call('GET', `/search?q=${encodeURIComponent(q)}&limit=5`);
    if (status === 402) return { status: 503, body: { message: 'The shop cannot look for anything now.' } };
    return { status: 200, body: body.results.map(({ url, title, price }) => ({ url, title, price })) };
  }

  async #sell(number, { url, ceiling, buyer }) {
    const order = {
      products: [{ url, quantity: 1 }],
      shipping_address: buyer,
      max_price: ceiling,
      idempotency_key: number,
      metadata: { sale: number },
    };
    const { status, body } = await this.#call('POST', '/orders', order);
    // The sale was sent before, and its response was lost: the order that it made is the sale's.
    const orderId = body.code === 'already_exists' ? body.details.identifier : body.id;
    if (status !== 201 && body.code !== 'already_exists') {
      const state = { number, state: 'refused', reason: body.code ?? 'validation_error' };
      this.#sales.set(number, state);
      return { status: 422, body: state };
    }
    this.#sales.set(number, { number, orderId, state: 'bought' });
    await this.#readAgain(orderId);
    return { status: 200, body: this.#sales.get(number) };
  }

  async #hear(secret, id, { id: orderId }) {
    if (secret !== this.#secret) return { status: 403, body: { message: 'That is no webhook of ours.' } };
    const isNew = !this.#seen.has(id);
    this.#seen.add(id);
    if (isNew) await this.#readAgain(orderId);
    return { status: 200, body: { isNew } };
  }

  /** What the service says now, whatever a webhook said. */
  async #readAgain(orderId) {
    const { status, body: order } = await this.#call('GET', `/orders/${orderId}`);
    const number = order.metadata?.sale;
    const { at = '' } = this.#sales.get(number) ?? {};
    // What was read before another read, and came after it, is old.
    if (status !== 200 || !this.#sales.has(number) || order.updated_at < at) return;
    const [parcel] = order.tracking_numbers;
    this.#sales.set(number, {
      number,
      orderId,
      at: order.updated_at,
      state: stateOf(order),
      ...(order.job_result?.error_type && { reason: order.job_result.error_type }),
      ...(parcel && { parcel: parcel.status }),
    });
  }

  async #takeBack({ orderId }, reason) {
    const { body: order } = await this.#call('GET', `/orders/${orderId}`);
    const items = order.items.map(({ id, quantity }) => ({ order_item_id: id, quantity }));
    const { status, body } = await this.#call('POST', '/returns', { order_id: orderId, items, reason });
    return { status, body: { return: body.id, state: body.status, code: body.code } };
  }

  async #call(method, path, body) {
    const { baseUrl, apiKey } = this.#service;
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    if (response.status >= 500) throw new Error(`The service responds with ${response.status}.`);
    return { status: response.status, body: await response.json() };
  }
}

const states = {
  order_placed: 'bought',
  order_failed: 'failed',
  cancelled: 'failed',
  cancelled_by_retailer: 'failed',
};

function stateOf({ status, tracking_numbers: parcels }) {
  const isDelivered = parcels.length > 0 && parcels.every((parcel) => parcel.status === 'delivered');
  return isDelivered ? 'delivered' : (states[status] ?? 'bought');
}
