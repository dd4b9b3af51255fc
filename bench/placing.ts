import { loadFor } from './load.ts';
import { type BenchSandbox, fillWallet, startSandbox } from './sandbox.ts';
import { atMost, type Row } from './table.ts';

const [rows, rowsEach] = [50_000, 500];
const connections = 10;
const ms = 5000;

/** How long a read takes while the served sandbox places the rows of a large upload, and how fast it places them then. */
export async function measure(folder: string): Promise<Row[]> {
  const sandbox = await startSandbox(folder);
  try {
    await fillWallet(sandbox);
    await upload(sandbox);
    const before = await orderCount(sandbox);
    const url = `${sandbox.baseUrl}/orders?limit=2`;
    const { p99Ms, failures, perSecond } = await loadFor(ms, connections, {
      method: 'GET',
      url,
      headers: sandbox.headers,
    });
    const after = await orderCount(sandbox);
    if (failures > 0 || after >= rows) throw new Error(`${failures} reads failed, ${after} rows were placed`);
    return [
      atMost(
        `p99 of ${connections} readers while a batch of ${rows.toLocaleString('en-US')} is placed`,
        p99Ms,
        30,
        'ms',
      ),
      { name: 'their reads meanwhile', figure: `${Math.round(perSecond)}/s` },
      { name: 'rows placed meanwhile', figure: `${Math.round((after - before) / (ms / 1000))}/s` },
    ];
  } finally {
    await sandbox.stop();
  }
}

async function upload({ baseUrl, headers }: BenchSandbox): Promise<void> {
  const one = {
    product_url: `${baseUrl}/shop/test-success`,
    max_price: '5000',
    name: 'Ada Byron',
    address1: '1 Main Street',
    city: 'Austin',
    state: 'TX',
    zip: '78701',
    phone: '5125550100',
  };
  const body = JSON.stringify({ filename: 'rows.csv', rows: Array.from({ length: rowsEach }, () => one) });
  for (let sent = 0; sent < rows; sent += rowsEach) {
    const response = await fetch(`${baseUrl}/orders/bulk`, { method: 'POST', headers, body });
    if (!response.ok) throw new Error(`a batch was refused: ${await response.text()}`);
    await response.arrayBuffer();
  }
}

async function orderCount({ baseUrl, headers }: BenchSandbox): Promise<number> {
  const response = await fetch(`${baseUrl}/orders?limit=1`, { headers });
  const { total } = (await response.json()) as { total: number };
  return total;
}
