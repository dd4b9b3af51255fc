import type { Store } from './store.ts';

/** What was done to an order or a return, besides what came of it by itself. */
interface Intervention {
  /** ms since the epoch. */
  readonly at: number;
  readonly event: string;
  readonly errorType: string | null;
}

/** Notes what is done to the order or return of an id. Within the transaction that does it. */
export function noteIntervention(store: Store, id: string, { at, event, errorType }: Intervention): void {
  store.run(
    'INSERT INTO interventions (subject, at, event, error_type) VALUES (?, ?, ?, ?)',
    id,
    at,
    event,
    errorType,
  );
}

/** What was done to the order or return of an id, the first first. */
export const interventionsIn = (store: Store, id: string): Intervention[] =>
  store
    .all('SELECT at, event, error_type FROM interventions WHERE subject = ? ORDER BY seq', id)
    .map(({ at, event, error_type: errorType }) => ({
      at: Number(at),
      event: String(event),
      errorType: errorType === null ? null : String(errorType),
    }));
