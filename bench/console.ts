import { loadSqlite } from '../src/platform/sqlite/load.ts';
import { type BenchSandbox, fillWallet, fillWithOrders, startSandbox } from './sandbox.ts';
import { atMost, median, type Row } from './table.ts';

const orders = 10_000;
const perSecond = 55;
const rounds = 9;
const requests = 100_000;

/** Times the console's filters and orders as a browser requests them while orders keep arriving. */
export async function measure(folder: string): Promise<Row[]> {
  const sandbox = await startSandbox(folder, '--speed', '20');
  try {
    await fillWallet(sandbox);
    const ids = await fillWithOrders(sandbox, orders);
    spread(sandbox.file);
    const host = encodeURIComponent(new URL(sandbox.baseUrl).host);
    const pages: readonly (readonly [name: string, path: string])[] = [
      ['all', ''],
      ['status', '?status=order_failed'],
      ['failed only', '?failed=1'],
      ['retailer', `?retailer=${host}`],
      ['status and retailer', `?status=cancelled&retailer=${host}`],
      ['user', `?user=${await userId(sandbox)}`],
      ['beginning of an id', `?id=${(ids[5000] ?? '').slice(0, 6)}`],
      ['sorted by total', '?sort=-total'],
      ['sorted by recipient', '?sort=recipient'],
      ['the next part, sorted by total', '?sort=-total&before=5000'],
    ];
    await fillRequests(sandbox);
    const searches = await indexed(sandbox);
    const stop = keepOrdering(sandbox);
    const times: [name: string, ms: number][] = [];
    const found: [query: string, ms: number][] = [];
    let made = 0;
    try {
      for (const query of [...searches, (ids[5000] ?? '').slice(0, 6)]) {
        const each: number[] = [];
        for (let round = 0; round < rounds; round += 1)
          each.push(
            await load(`${sandbox.baseUrl}/console/search?q=${encodeURIComponent(query)}`, 'class="results"'),
          );
        found.push([query, median(each)]);
      }
      for (const [name, path] of pages) {
        const each: number[] = [];
        for (let round = 0; round < rounds; round += 1)
          each.push(await load(`${sandbox.baseUrl}/console/orders${path}`, 'id="order-'));
        times.push([name, median(each)]);
      }
    } finally {
      made = await stop();
    }
    const slowestOf = (all: readonly [string, number][]) =>
      all.reduce((one, other) => (other[1] > one[1] ? other : one));
    const [slowest, search] = [slowestOf(times), slowestOf(found)];
    return [
      atMost(
        `console, ${orders.toLocaleString('en-US')} orders and ${requests.toLocaleString('en-US')} requests: the slowest search (${search[0]})`,
        search[1],
        100,
        'ms',
      ),
      atMost(
        `console, ${orders.toLocaleString('en-US')} orders and ${made.toFixed(0)} new a second: the slowest filter or order (${slowest[0]})`,
        slowest[1],
        100,
        'ms',
      ),
    ];
  } finally {
    await sandbox.stop();
  }
}

/** Sends requests of programs, with words to search for. */
async function fillRequests({ baseUrl, headers }: BenchSandbox): Promise<void> {
  let sent = 0;
  const send = async (): Promise<void> => {
    while (sent < requests) {
      sent += 1;
      const response = await fetch(`${baseUrl}/nothing/${sent}`, { headers });
      await response.text();
    }
  };
  await Promise.all(Array.from({ length: 16 }, send));
}

/** Waits until the console has indexed everything. @returns what to search for. */
async function indexed({ baseUrl }: BenchSandbox): Promise<string[]> {
  const isComplete = async (): Promise<boolean> => {
    const response = await fetch(`${baseUrl}/console/search?q=nothing`, { headers: { accept: 'text/html' } });
    return !(await response.text()).includes('still being indexed');
  };
  while (!(await isComplete())) await new Promise((resolve) => setTimeout(resolve, 200));
  return ['nothing', 'not', 'nothing 4711', 'out of stock', 'austin', 'o'];
}

async function userId({ baseUrl }: BenchSandbox): Promise<string> {
  const response = await fetch(`${baseUrl}/console/keys`, { headers: { accept: 'text/html' } });
  return /\/wallets\/([\w-]+)/.exec(await response.text())?.[1] ?? '';
}

/** Marks some of the copied orders failed and some cancelled. */
function spread(file: string): void {
  const Sqlite = loadSqlite();
  const store = new Sqlite(file);
  store.exec(
    `PRAGMA busy_timeout = 10000; UPDATE orders SET status = CASE seq % 10 WHEN 0 THEN 'order_failed' WHEN 1 THEN 'cancelled' ELSE status END`,
  );
  store.close();
}

/** Creates orders at a steady rate. @returns a function that stops it and returns the orders per second achieved. */
function keepOrdering({ baseUrl, headers, order }: BenchSandbox): () => Promise<number> {
  const began = performance.now();
  let [made, isOver] = [0, false];
  const ordering = (async () => {
    while (!isOver) {
      const due = Math.floor(((performance.now() - began) / 1000) * perSecond);
      const behind = Array.from({ length: Math.max(0, due - made) }, (_, index) => made + index);
      made += behind.length;
      await Promise.all(
        behind.map(async (number) => {
          const body = JSON.stringify({ ...order, metadata: { number } });
          const response = await fetch(`${baseUrl}/orders`, { method: 'POST', headers, body });
          if (!response.ok) throw new Error(await response.text());
          await response.text();
        }),
      );
      await new Promise((resolve) => setTimeout(resolve, 1000 / perSecond));
    }
  })();
  return async () => {
    isOver = true;
    await ordering;
    return made / ((performance.now() - began) / 1000);
  };
}

/** Times one page load, ms. */
async function load(url: string, part: string): Promise<number> {
  const began = performance.now();
  const response = await fetch(url, { headers: { accept: 'text/html' } });
  const text = await response.text();
  const ms = performance.now() - began;
  if (!response.ok || !text.includes(part)) throw new Error(`nothing at ${url}`);
  // The polling rate of a page in view.
  await new Promise((resolve) => setTimeout(resolve, 100));
  return ms;
}
