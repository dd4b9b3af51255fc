import { eachPlainField, plainDefault } from '../../api/order-fields.ts';
import type { Store } from '../store/store.ts';

const lacking = eachPlainField.map(([name]) => `json_type(record, '$.${name}') IS NULL`).join(' OR ');
const defaults = eachPlainField
  .map(([name, field]) => `'$.${name}', json('${plainDefault(field)}')`)
  .join(', ');

/**
 * Gives the records of an earlier version the plain fields that an order has come to have since, as if none had been
 * sent: lists are composed of these texts. All records are filled at once, so the oldest one tells whether they are.
 */
export async function fillRecords(store: Store): Promise<void> {
  const oldest = 'SELECT record FROM orders ORDER BY seq LIMIT 1';
  if (store.get(`SELECT 1 FROM (${oldest}) WHERE ${lacking}`) === undefined) return;
  await store.transaction(() => {
    store.run(
      `UPDATE orders SET record = json_insert(record, ${defaults}), listed = json_insert(listed, ${defaults})`,
    );
  });
}
