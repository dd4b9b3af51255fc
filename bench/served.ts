import { type Load, loadFor, type Measured } from './load.ts';
import { startPrism } from './prism.ts';
import { createOrder, fillWallet, startSandbox } from './sandbox.ts';
import type { Row } from './table.ts';

const connections = 50;
const ms = 5000;

interface Loads {
  readonly creates: Measured;
  readonly reads: Measured;
}

/** The served sandbox under 50 connections beside Prism's mock, with the same document and the same requests. */
export async function measure(folder: string): Promise<Row[]> {
  const sandbox = await startSandbox(folder, '--speed', '100');
  try {
    await fillWallet(sandbox);
    for (let made = 0; made < 50; made += 1) await createOrder(sandbox);
    const ours = await loaded(sandbox.baseUrl, sandbox);
    const document = await (await fetch(`${sandbox.baseUrl}/openapi.json`)).text();
    const prism = await startPrism(folder, document);
    try {
      const theirs = await loaded(prism.baseUrl, sandbox);
      return [
        beside('order creates, 50 connections, each durable', ours.creates, theirs.creates, 1.2),
        beside('order list reads, 50 connections', ours.reads, theirs.reads, 4),
      ];
    } finally {
      await prism.stop();
    }
  } finally {
    await sandbox.stop();
  }
}

type Sending = Pick<Awaited<ReturnType<typeof startSandbox>>, 'headers' | 'order'>;

async function loaded(baseUrl: string, { headers, order }: Sending): Promise<Loads> {
  const creates: Load = {
    method: 'POST',
    url: `${baseUrl}/orders`,
    headers,
    // A ceiling that nothing fits under: no order goes further than to be refused by its shop.
    body: (index) => JSON.stringify({ ...order, max_price: 0, metadata: { index } }),
  };
  // Prism's response is one order; this one is no smaller.
  const reads: Load = { method: 'GET', url: `${baseUrl}/orders?limit=2`, headers };
  return { reads: await loadFor(ms, connections, reads), creates: await loadFor(ms, connections, creates) };
}

function beside(name: string, own: Measured, other: Measured, aim: number): Row {
  const ratio = own.perSecond / other.perSecond;
  return {
    name,
    figure: `${figures(own)}; ${ratio.toFixed(1)}x Prism's ${figures(other)}`,
    aim: `${aim}x`,
    isMet: ratio >= aim && own.failures === 0,
  };
}

const figures = ({ perSecond, p99Ms, failures }: Measured): string =>
  `${Math.round(perSecond)}/s, p99 ${p99Ms.toFixed(0)} ms${failures > 0 ? `, ${failures} failed` : ''}`;
