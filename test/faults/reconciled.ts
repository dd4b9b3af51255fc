import { attempt } from './attempt.ts';
import type { FaultProxy } from './proxy.ts';
import type { World } from './run.ts';

interface ServiceOrder {
  readonly id: string;
  readonly status: string;
  readonly max_price: unknown;
  readonly job_result: { readonly price_components: { readonly total: number } | null } | null;
}

interface Compared {
  readonly orders: number;
  readonly findings: readonly {
    readonly order_id: string | null;
    readonly key: string | null;
    readonly message: string;
  }[];
  readonly sums: readonly { readonly payer: string; readonly net: number; readonly held: number }[];
}

/** The service's fee per order, cents. */
const feeCents = 100;

/**
 * Runs `reconcile` at the end and checks the result.
 * @param intents of the orders the account lists; empty for orders paid by challenge.
 * @returns problems: a finding without an order or key, or sums that differ from the service's own orders.
 */
export async function unreconciled(
  environment: Readonly<Record<string, string>>,
  world: World,
  proxy: FaultProxy,
  intents: readonly string[],
): Promise<string[]> {
  proxy.faults = [];
  const before = await ordersFor(world, intents);
  const { code, stdout, stderr } = await attempt({
    args: ['reconcile', '-o', 'json'],
    environment,
    proxy,
  });
  if (code !== 0 && code !== 7) return [`reconcile: exit ${code}: ${stderr.slice(0, 300)}`];
  const after = await ordersFor(world, intents);
  const { orders, findings, sums }: Compared = JSON.parse(stdout);
  const nameless = findings.filter(({ order_id: id, key }) => id === null && key === null);
  if (nameless.length > 0) return nameless.map(({ message }) => `reconcile: ${message}`);
  // Skip the sums if there are findings, which they exclude, or if orders progressed meanwhile.
  if (findings.length > 0 || intents.length === 0 || centsOf(before) !== centsOf(after)) return [];
  const wallet = sums.find(({ payer }) => payer === 'wallet');
  const cents = (wallet?.net ?? 0) + (wallet?.held ?? 0);
  if (orders === after.length && cents === centsOf(after)) return [];
  return [
    `reconcile: ${orders} orders of ${cents} cents; the service has ${after.length} of ${centsOf(after)}`,
  ];
}

/** Total held and spent by the orders, cents. */
const centsOf = (orders: readonly ServiceOrder[]): number =>
  orders.reduce((sum, { status, max_price: ceiling, job_result: result }) => {
    // `max_price` may be returned as text.
    if (status === 'pending' || status === 'in_progress') return sum + Number(ceiling) + feeCents;
    return status === 'order_placed' ? sum + (result?.price_components?.total ?? 0) + feeCents : sum;
  }, 0);

async function ordersFor({ baseUrl, key }: World, intents: readonly string[]): Promise<ServiceOrder[]> {
  const pages = intents.map(async (intent) => {
    const query = `metadata_key=intent&metadata_value=${encodeURIComponent(intent)}`;
    const response = await fetch(`${baseUrl}/orders?${query}`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const page = (await response.json()) as { orders: ServiceOrder[] };
    return page.orders;
  });
  return (await Promise.all(pages)).flat();
}
