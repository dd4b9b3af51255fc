import { type Load, loadFor, type Measured } from './load.ts';
import { startPrism } from './prism.ts';
import { inRounds, middle, type Pair, pairs } from './program.ts';
import { type BenchSandbox, createOrder, fillWallet, startSandbox } from './sandbox.ts';
import type { Row } from './table.ts';

const connections = 50;
/** Short interleaved rounds, ms: the machine's speed varies. */
const [rounds, ms] = [3, 5000];

/** The served sandbox against Prism's mock, with 50 connections and the same document and requests. */
export async function measure(folder: string): Promise<Row[]> {
  const sandbox = await startSandbox(folder, '--speed', '100');
  try {
    await fillWallet(sandbox);
    for (let made = 0; made < 50; made += 1) await createOrder(sandbox);
    const document = await (await fetch(`${sandbox.baseUrl}/openapi.json`)).text();
    const prism = await startPrism(folder, document);
    try {
      // Prism responds with a single order; this response is at least as large.
      const reads = await inTurn(sandbox, prism.baseUrl, { method: 'GET', path: '/orders?limit=2' });
      const creates = await inTurn(sandbox, prism.baseUrl, {
        method: 'POST',
        path: '/orders',
        // A ceiling below any price: the shop rejects every order, so none progresses further.
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

/** Applies the same load to the sandbox and Prism. @returns the pair with the median ratio. */
async function inTurn(
  { baseUrl, headers, pid }: BenchSandbox,
  prismUrl: string,
  { path, ...load }: Omit<Load, 'url' | 'headers'> & { readonly path: string },
): Promise<Pair<Measured, Measured>> {
  const loaded = (url: string) => loadFor(ms, connections, { ...load, headers, url: `${url}${path}` });
  const [own, other] = await inRounds(
    rounds,
    () => loaded(baseUrl),
    async () => {
      // Suspend the sandbox: it still processes orders and would take CPU time from Prism.
      process.kill(pid, 'SIGSTOP');
      try {
        return await loaded(prismUrl);
      } finally {
        process.kill(pid, 'SIGCONT');
      }
    },
  );
  return middle(pairs(own, other));
}

function beside(name: string, { own, other }: Pair<Measured, Measured>, aim: number): Row {
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
