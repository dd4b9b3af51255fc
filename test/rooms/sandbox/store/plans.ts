import { Store } from '../../../../src/sandbox/store/store.ts';

/** Query plans of all statements a list runs. */
export async function plansOf(list: (store: Store) => void): Promise<string[]> {
  const store = await Store.open(':memory:');
  const statements: { sql: string; values: (string | number | null)[] }[] = [];
  for (const method of ['all', 'get'] as const) {
    const run = store[method].bind(store);
    Object.assign(store, {
      [method]: (sql: string, ...values: (string | number | null)[]) => {
        statements.push({ sql, values });
        return run(sql, ...values);
      },
    });
  }
  list(store);
  const plans = statements
    .splice(0)
    .flatMap(({ sql, values }) => store.all(`EXPLAIN QUERY PLAN ${sql}`, ...values));
  await store.close();
  return plans.map(({ detail }) => String(detail));
}
