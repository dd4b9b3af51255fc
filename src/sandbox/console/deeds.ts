import { parseUrl } from '../../platform/net/urls.ts';
import type { Service } from '../server/service.ts';
import { headerOf, type SandboxResponse } from '../server/wire.ts';
import { addNote, noteParameter } from './action-notes.ts';
import type { AnyPageRequest, Page } from './page.ts';
import type { PageName } from './routes.ts';

/** Maximum time, in ms, to wait for the webhooks that an action caused. */
const settleMs = 500;

/**
 * Wraps a form handler. The page to which the handler redirects then shows a note that says what the form did and which
 * effects followed.
 * @param words what the form did, such as `Clock moved`.
 */
export const withDeed =
  <N extends PageName>(words: string, page: Page<N>): Page<N> =>
  async (visit) => {
    const { service } = visit;
    if (visit.request.method !== 'POST') return page(visit);
    const before = countsOf(service);
    const response = await page(visit);
    if (response.status !== 303) return response;
    await settled(service);
    return leadingTo(visit, response, addNote(service, sentence(words, before, countsOf(service))));
  };

async function settled(service: Service): Promise<void> {
  if (
    service.store.get('SELECT 1 FROM deliveries WHERE next_at <= ? AND behind = 0', service.clock.now()) ===
    undefined
  )
    return;
  service.deliver();
  await service.attempted(settleMs);
}

/** Names the note in the address that a form leads to. Who comes back to the form's page finds its filters as they were. */
function leadingTo({ request }: AnyPageRequest, response: SandboxResponse, number: number): SandboxResponse {
  const [path = '', fragment] = String(response.headers.location).split('#');
  const from = parseUrl(headerOf(request, 'referer') ?? '');
  const query = new URLSearchParams(from?.pathname === path ? from.search : '');
  query.set(noteParameter, String(number));
  const location = path.includes('?') ? `${path}&${noteParameter}=${number}` : `${path}?${query}`;
  const end = fragment === undefined ? '' : `#${fragment}`;
  return { ...response, headers: { ...response.headers, location: location + end } };
}

type Counts = ReadonlyMap<string, number>;

/** Counts everything that an action can change. `effects` refers to the counts by name. */
function countsOf({ store }: Service): Counts {
  const rows = store.all(
    `SELECT 'order ' || status AS name, count(*) AS count FROM orders GROUP BY status
     UNION ALL SELECT 'parcel ' || status, count(*) FROM trackings GROUP BY status
     UNION ALL SELECT 'return ' || status, count(*) FROM returns GROUP BY status
     UNION ALL SELECT 'attempts', count(*) FROM delivery_attempts
     UNION ALL SELECT 'failed attempts', count(*) FROM delivery_attempts WHERE error IS NOT NULL
     UNION ALL SELECT 'given up', count(*) FROM deliveries WHERE given_up_at IS NOT NULL`,
  );
  return new Map(rows.map(({ name, count }) => [String(name), Number(count)]));
}

/** Words for an increase of each count, in the order in which a sentence lists them. */
const effects: readonly (readonly [name: string, one: string, several: string])[] = [
  ['order order_placed', 'placed', 'placed'],
  ['order order_failed', 'failed', 'failed'],
  ['order cancelled', 'cancelled', 'cancelled'],
  ['order cancelled_by_retailer', 'cancelled by the retailer', 'cancelled by the retailer'],
  ['parcel in_transit', 'shipped', 'shipped'],
  ['parcel available_for_pickup', 'ready for pickup', 'ready for pickup'],
  ['parcel delivered', 'delivered', 'delivered'],
  ['parcel undeliverable', 'undeliverable', 'undeliverable'],
  ['return approved', 'return approved', 'returns approved'],
  ['return denied', 'return denied', 'returns denied'],
  ['return credited', 'return credited', 'returns credited'],
  ['attempts', 'webhook sent', 'webhooks sent'],
  ['failed attempts', 'of them failed', 'of them failed'],
  ['given up', 'gave up', 'gave up'],
];

function sentence(words: string, before: Counts, after: Counts): string {
  const caused = effects.flatMap(([name, one, several]) => {
    const more = (after.get(name) ?? 0) - (before.get(name) ?? 0);
    return more > 0 ? [`${more.toLocaleString('en-US')} ${more === 1 ? one : several}`] : [];
  });
  if (caused.length === 0) return `${words}.`;
  return `${words}: ${caused.join(', ').replace('1 webhook sent, 1 of them failed', '1 webhook sent, which failed')}.`;
}
