import { loadSqlite } from '../../src/platform/sqlite/load.ts';

/**
 * Copies the first order in a store's file until there are `count`, each with its own id.
 * @param live whether the copies keep the first one's scheduled transitions; otherwise they are static. @returns their
 * ids.
 */
export async function copyOrders(file: string, count: number, { live = false } = {}): Promise<string[]> {
  const Sqlite = loadSqlite();
  const store = new Sqlite(file);
  const id = `printf('%08x-0000-4000-8000-%012x', i, i)`;
  try {
    store.exec(`
      PRAGMA busy_timeout = 10000;
      BEGIN IMMEDIATE;
      ${live ? '' : "UPDATE orders SET next_due = NULL, plan = '[]';"}
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count - 1})
      INSERT INTO orders (id, user_id, idempotency_key, created_at, status, recipient, created_by, reserved, fee, wallet_paid,
          record, listed, body, plan, next_due)
        SELECT ${id}, user_id, 'copy-' || i, created_at - ${live ? 0 : 1000} * i, status, recipient, created_by, 0, fee,
          wallet_paid, replace(record, id, ${id}), replace(listed, id, ${id}), body, replace(plan, id, ${id}), next_due
          FROM orders, n WHERE seq = 1;
      INSERT INTO order_hosts (host, order_seq)
        SELECT h.host, o.seq FROM orders o, order_hosts h WHERE h.order_seq = 1 AND o.seq > 1;
      UPDATE users SET order_count = ${count};
      COMMIT;
      PRAGMA wal_checkpoint(TRUNCATE);`);
    return store
      .prepare('SELECT id FROM orders')
      .all()
      .map((row) => String({ id: '', ...(row as object) }.id));
  } finally {
    store.close();
  }
}
