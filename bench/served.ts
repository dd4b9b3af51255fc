import { type Load, loadFor, type Measured } from './load.ts';
import { startPrism } from './prism.ts';
import { middle } from './program.ts';
import { type BenchSandbox, createOrder, fillWallet, startSandbox } from './sandbox.ts';
import type { Row } from './table.ts';

const connections = 50;
/** A while each in turn, ms: the speed of a machine changes. */
const [rounds, ms] = [3, 5000];

/** The served sandbox under 50 connections beside Prism's mock, with the same document and the same requests. */
export async function measure(folder: string): Promise<Row[]> {
  const sandbox = await startSandbox(folder, '--speed', '100');
  try {
    await fillWallet(sandbox);
    for (let made = 0; made < 50; made += 1) await createOrder(sandbox);
    const document = await (await fetch(`${sandbox.baseUrl}/openapi.json`)).text();
    const prism = await startPrism(folder, document);
    try {
      // Prism's response is one order; this one is no smaller.
      const reads = await inRounds(sandbox, prism.baseUrl, { method: 'GET', path: '/orders?limit=2' });
      const creates = await inRounds(sandbox, prism.baseUrl, {
        method: 'POST',
        path: '/orders',
        // A ceiling that nothing fits under: no order goes further than to be refused by its shop.
        body: (index) => JSON.stringify({ ...sandbox.order, max_price: 0, metadata: { index } }),
      });
      return [
        beside('order creates, 50 connections, each durable', creates, 1.2),
        beside('order list reads, 50 connections', reads, 4),
      ];
    } finally {
      await prism.stop();
    }
  } finally {
    await sandbox.stop();
  }
}

interface Round {
  readonly own: Measured;
  readonly other: Measured;
}

/** @returns the round whose ratio is in the middle. */
async function inRounds(
  { baseUrl, headers, pid }: BenchSandbox,
  prismUrl: string,
  { path, ...load }: Omit<Load, 'url' | 'headers'> & { readonly path: string },
): Promise<Round> {
  const loaded = (url: string) => loadFor(ms, connections, { ...load, headers, url: `${url}${path}` });
  const all: Round[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const own = await loaded(baseUrl);
    // It works on what was ordered for a while longer, and must not take that time from Prism.
    process.kill(pid, 'SIGSTOP');
    try {
      all.push({ own, other: await loaded(prismUrl) });
    } finally {
      process.kill(pid, 'SIGCONT');
    }
  }
  return middle(all.toSorted((one, two) => ratioOf(one) - ratioOf(two)));
}

const ratioOf = ({ own, other }: Round): number => own.perSecond / other.perSecond;

function beside(name: string, round: Round, aim: number): Row {
  const { own, other } = round;
  return {
    name,
    figure: `${figures(own)}; ${ratioOf(round).toFixed(1)}x Prism's ${figures(other)}`,
    aim: `${aim}x`,
    isMet: ratioOf(round) >= aim && own.failures === 0,
  };
}

const figures = ({ perSecond, p99Ms, failures }: Measured): string =>
  `${Math.round(perSecond)}/s, p99 ${p99Ms.toFixed(0)} ms${failures > 0 ? `, ${failures} failed` : ''}`;
