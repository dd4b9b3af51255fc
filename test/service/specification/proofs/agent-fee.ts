import { join } from 'node:path';
import { expect } from 'vitest';
import { loadSqlite } from '../../../../src/platform/sqlite/load.ts';
import { makeFolder } from '../../../support/folder.ts';
import { orderBody } from '../../../support/order-body.ts';
import { pay, sendPaid } from '../../../support/payer.ts';
import { TestService } from '../../../support/service.ts';
import { proof } from '../proof.ts';
import { second } from '../scenes.ts';
import { amounts } from './agent.ts';

/** The difference is returned to the payer. No endpoint shows that, so this reads the ledger of its own store. */
export const agentOrderFee = proof('max_price and 1 USD up front; the difference is paid back', async () => {
  const folder = makeFolder();
  const file = join(folder.path, 'sandbox.db');
  const it = await TestService.start({ file });
  try {
    const body = orderBody(it.product('test-success'));
    const unpaid = await sendPaid(it, '/agent/orders', body);
    expect(new Set(amounts(unpaid))).toEqual(new Set([String(body.max_price + 100)]));
    const { response } = await pay(it, '/agent/orders', body);
    it.pass(12 * second);
    const key = response.headers.get('x-api-key');
    const { job_result } = (await it.send('GET', `/orders/${response.body.id}`, undefined, key)).body;
    const { total } = job_result.price_components;
    expect(total).toBe(1_999);
    expect(await payouts(file, response.body.id)).toEqual([{ cents: total - body.max_price }]);
  } finally {
    await it.stop();
    folder.remove();
  }
});

/** Payouts of an order to its payer, from the ledger; negative cents. */
async function payouts(file: string, orderId: string): Promise<unknown[]> {
  const Database = loadSqlite();
  const store = new Database(file, { readOnly: true });
  const rows = store.prepare("SELECT cents FROM ledger WHERE kind = 'payout' AND order_id = ?").all(orderId);
  store.close();
  return rows.map((row) => ({ ...(row as object) }));
}
