import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fillWithOrders, startSandbox } from './sandbox.ts';
import { median, type Row } from './table.ts';

const sizes = [2_000, 200_000] as const;
const rounds = 60;
const queries: Readonly<Record<string, { readonly query: string; readonly aim?: number }>> = {
  'newest 50': { query: 'limit=50', aim: 2 },
  'newest 50 pending': { query: 'limit=50&status_filter=pending' },
  'created since': { query: 'limit=50&created_after=2020-01-01' },
};

/** One page of orders out of 200,000 against one out of 2,000, over HTTP. */
export async function measure(folder: string): Promise<Row[]> {
  const times = new Map<string, number[]>();
  for (const count of sizes) {
    const own = join(folder, String(count));
    mkdirSync(own);
    const sandbox = await startSandbox(own);
    try {
      await fillWithOrders(sandbox, count);
      for (const [name, { query }] of Object.entries(queries)) {
        const ms = await medianOf(`${sandbox.baseUrl}/orders?${query}`, sandbox.headers);
        const known = times.get(name);
        if (known) known.push(ms);
        else times.set(name, [ms]);
      }
    } finally {
      await sandbox.stop();
    }
  }
  return [...times].map(([name, [small = 0, large = 0]]) => {
    const ratio = large / small;
    const aim = queries[name]?.aim;
    return {
      name: `a page of 200,000 orders: ${name}`,
      figure: `${large.toFixed(2)} ms, ${ratio.toFixed(2)}x that of 2,000`,
      ...(aim !== undefined && { aim: `${aim}x`, isMet: ratio <= aim }),
    };
  });
}

async function medianOf(url: string, headers: Readonly<Record<string, string>>): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const started = performance.now();
    await (await fetch(url, { headers })).arrayBuffer();
    times.push(performance.now() - started);
  }
  return median(times);
}
