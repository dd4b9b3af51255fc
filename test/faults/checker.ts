/**
 * Independent of the program: compares only the service's orders with the list of intents.
 * An order carries its intent in `metadata.intent`.
 */
export interface ServiceOrder {
  readonly id: string;
  readonly metadata: { readonly intent?: string } | null;
}

export interface Verdict {
  readonly intents: number;
  readonly orders: number;
  readonly missing: readonly string[];
  readonly doubled: readonly string[];
  readonly unrequested: readonly string[];
}

/** @param paid orders of payers without an account; no key lists them. */
export async function checkOrders(
  baseUrl: string,
  keys: readonly string[],
  intents: readonly string[],
  paid: readonly ServiceOrder[] = [],
): Promise<Verdict> {
  const orders = [...(await Promise.all(keys.map((key) => allOrders(baseUrl, key)))).flat(), ...paid];
  const counts = new Map<string, number>();
  for (const { metadata } of orders) {
    const intent = metadata?.intent ?? 'none';
    counts.set(intent, (counts.get(intent) ?? 0) + 1);
  }
  const wanted = new Set(intents);
  return {
    intents: intents.length,
    orders: orders.length,
    missing: intents.filter((intent) => !counts.has(intent)),
    doubled: [...counts].filter(([, count]) => count > 1).map(([intent]) => intent),
    unrequested: [...counts.keys()].filter((intent) => !wanted.has(intent)),
  };
}

async function allOrders(baseUrl: string, key: string): Promise<ServiceOrder[]> {
  const orders: ServiceOrder[] = [];
  for (;;) {
    const response = await fetch(`${baseUrl}/orders?limit=500&offset=${orders.length}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    if (!response.ok) throw new Error(`the service returned ${response.status} to the checker`);
    const page = (await response.json()) as { orders: ServiceOrder[]; total: number };
    orders.push(...page.orders);
    if (page.orders.length === 0 || orders.length >= page.total) return orders;
  }
}
