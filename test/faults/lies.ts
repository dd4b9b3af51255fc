import type { Ended } from './attempt.ts';
import type { World } from './run.ts';
import type { Scenario } from './scenario.ts';

interface Outcome {
  readonly category: string;
  readonly code: string | null;
  readonly outcome: string | null;
  readonly idempotency_key: string | null;
  readonly details: { readonly in_doubt_since?: string } | null;
}

/** Parses the error an attempt printed; undefined if it printed none. */
export function outcomeOf({ stderr }: Pick<Ended, 'stderr'>): Outcome | undefined {
  const line = stderr
    .trim()
    .split('\n')
    .findLast((text) => text.startsWith('{"error"'));
  try {
    return line === undefined ? undefined : JSON.parse(line).error;
  } catch {
    // A killed process may have written only part of it.
    return undefined;
  }
}

/**
 * Checks the claims of an exit code and an error against the service. @param isHurt the disk or stdout failed.
 * @param isAlone no other process can have placed the order meanwhile.
 */
export async function liesOf(
  world: World,
  what: Scenario['what'],
  intents: readonly string[],
  ended: Ended,
  { isHurt, isAlone }: { readonly isHurt: boolean; readonly isAlone: boolean },
): Promise<string[]> {
  const { code, stderr } = ended;
  const outcome = outcomeOf(ended);
  if (code === 1 && !isHurt) return [`unexpected failure: ${stderr}`];
  // Batch rows become orders later, and no key lists a paid order; the checker verifies both at the end.
  const [intent = ''] = intents;
  if (what !== 'order' || (code !== 0 && outcome === undefined)) return [];
  const count = await countOf(world, intent);
  if (code === 0 && count !== 1) return [`exit 0, and the service has ${count} orders`];
  const isDenied = outcome?.outcome === 'not_sent' || outcome?.outcome === 'rejected';
  if (isDenied && isAlone && count > 0) return [`"${outcome.outcome}" of an order that exists: ${stderr}`];
  return outcome?.outcome === 'applied' && count === 0
    ? [`"applied" of an order that does not exist: ${stderr}`]
    : [];
}

async function countOf({ baseUrl, key }: World, intent: string): Promise<number> {
  const query = `metadata_key=intent&metadata_value=${intent}`;
  const response = await fetch(`${baseUrl}/orders?${query}`, { headers: { authorization: `Bearer ${key}` } });
  return ((await response.json()) as { total: number }).total;
}
