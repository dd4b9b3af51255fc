import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { address } from '../support/order-body.ts';
import type { Ended } from './attempt.ts';
import type { Service } from './service.ts';

/** What a command must create or cancel, each once. */
export interface Thing {
  readonly args: readonly string[];
  /** The expected number in the end. */
  readonly meant: number;
  /** The number at the service. */
  count(): Promise<number>;
}

/** A command under test that creates or cancels something. */
export interface Subject {
  readonly name: string;
  /** Speed-up factor of its sandbox. */
  readonly speed: number;
  /** @param prepare runs the program in the workspace of the command, unharmed. */
  make(
    service: Service,
    key: string,
    folder: string,
    prepare: (args: readonly string[]) => Promise<Ended>,
  ): Promise<Thing>;
}

const fast = 100;
/** `test-slow` stays pending for 15 s. */
const slow = 4;

const orderFile = (service: Service, folder: string, intent: string): string => {
  const order = {
    products: [{ url: `${service.shopUrl}/test-never` }],
    shipping_address: address,
    max_price: 1,
    metadata: { intent },
  };
  const file = join(folder, 'order.json');
  writeFileSync(file, JSON.stringify(order));
  return file;
};

const ask = async (service: Service, key: string, path: string, body?: unknown) => {
  const response = await fetch(`${service.baseUrl}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  return response.json() as Promise<ReturnType<typeof JSON.parse>>;
};

/** The rows of a file with its headings, each with a number of its own. */
const ordersFile = (service: Service, folder: string, intent: string, product: string, rows: number) => {
  const file = join(folder, 'orders.csv');
  const row = (number: number) =>
    `${service.shopUrl}/${product},${number},A B,1 Main St,Austin,TX,78701,5125550100,${intent}`;
  const headings = 'url,max_price_cents,name,address,city,state,zip,phone,metadata.intent';
  const all = Array.from({ length: rows }, (_, at) => row(at + 1));
  writeFileSync(file, [headings, ...all, ''].join('\n'));
  return file;
};

const countOrders = async (service: Service, key: string, intent: string): Promise<number> =>
  (await ask(service, key, `/orders?metadata_key=intent&metadata_value=${intent}`)).total;

const limits = ['--timeout', '3s', '-o', 'json', '--retries', '1'];

/** Commands that create. */
export const subjects: readonly Subject[] = [
  {
    name: 'order create',
    speed: fast,
    async make(service, key, folder) {
      const intent = randomUUID();
      const args = ['order', 'create', '--file', orderFile(service, folder, intent), ...limits];
      return { args, meant: 1, count: () => countOrders(service, key, intent) };
    },
  },
  {
    name: 'standing run',
    speed: fast,
    async make(service, key, folder) {
      const intent = randomUUID();
      const order = JSON.parse(readFileSync(orderFile(service, folder, intent), 'utf8'));
      const id = intent.replaceAll('-', '').slice(0, 12);
      const entry = { id, dates: [new Date().toISOString().slice(0, 10)], late: '2d', order };
      const file = join(folder, 'standing.yaml');
      writeFileSync(file, JSON.stringify({ version: 1, orders: { coffee: entry } }), { mode: 0o600 });
      // Ids alone: a list with a row that says what went wrong is no result.
      const args = ['standing', 'run', '--standing', file, '--timeout', '3s', '-o', 'id', '--retries', '1'];
      return { args, meant: 1, count: () => countOrders(service, key, intent) };
    },
  },
  {
    name: 'agent order create',
    speed: fast,
    async make(service, _, folder) {
      const intent = randomUUID();
      const args = ['agent', 'order', 'create', '--file', orderFile(service, folder, intent), ...limits];
      const count = async (): Promise<number> =>
        (await service.paidOrders()).filter(({ metadata }) => metadata?.intent === intent).length;
      return { args, meant: 1, count };
    },
  },
  {
    name: 'bulk upload',
    speed: fast,
    async make(service, key, folder) {
      const intent = randomUUID();
      const file = ordersFile(service, folder, intent, 'test-success', 3);
      const args = ['bulk', 'upload', file, '--batch-size', '2', ...limits];
      const count = async (): Promise<number> => {
        await service.untilPlaced(key);
        return countOrders(service, key, intent);
      };
      return { args, meant: 3, count };
    },
  },
  {
    name: 'return create',
    speed: fast,
    async make(service, key) {
      const order = await placedOrder(service, key);
      const args = ['return', 'create', '--order', order, '--reason', 'damaged', ...limits];
      const count = async (): Promise<number> => (await ask(service, key, `/returns?search=${order}`)).total;
      return { args, meant: 1, count };
    },
  },
  {
    name: 'bulk return',
    speed: fast,
    async make(service, key, folder) {
      const orders = [await placedOrder(service, key), await placedOrder(service, key)];
      const file = join(folder, 'returns.csv');
      writeFileSync(file, ['order,reason', ...orders.map((id) => `${id},damaged`), ''].join('\n'));
      const args = ['bulk', 'return', file, ...limits];
      const count = async (): Promise<number> => {
        const totals = orders.map(async (id) => (await ask(service, key, `/returns?search=${id}`)).total);
        return (await Promise.all(totals)).reduce((sum, total) => sum + total, 0);
      };
      return { args, meant: 2, count };
    },
  },
];

export const cancellations: readonly Subject[] = [
  cancelling('bulk cancel', ['bulk', 'cancel', 'orders']),
  cancelling('undo', ['undo', 'orders']),
];

/** A command that cancels the two orders of an upload. */
function cancelling(name: string, line: readonly string[]): Subject {
  return {
    name,
    speed: slow,
    async make(service, key, folder, prepare) {
      const intent = randomUUID();
      const file = ordersFile(service, folder, intent, 'test-slow', 2);
      const sent = await prepare(['bulk', 'upload', file]);
      if (sent.code !== 0) throw new Error(sent.stderr);
      await service.untilPlaced(key);
      const count = async (): Promise<number> => {
        const { orders } = await ask(service, key, `/orders?metadata_key=intent&metadata_value=${intent}`);
        return orders.filter(({ status }: { status: string }) => status === 'cancelled').length;
      };
      return { args: [...line, ...limits], meant: 2, count };
    },
  };
}

/** An order that can be returned. */
async function placedOrder(service: Service, key: string): Promise<string> {
  const { id } = await ask(service, key, '/orders', {
    products: [{ url: `${service.shopUrl}/test-success` }],
    shipping_address: address,
    max_price: 5000,
  });
  for (;;) {
    if ((await ask(service, key, `/orders/${id}`)).status === 'order_placed') return id;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
