import type { Store } from './store.ts';

/**
 * An event that someone forced on an order or a return, although the plan of the order or return did not contain the
 * event.
 */
interface Intervention {
  /** When the event was forced, in ms since the epoch. */
  readonly at: number;
  readonly event: string;
  readonly errorType: string | null;
}

/** Records an intervention on an order or return. Must run in the transaction that performs the intervention. */
export function recordIntervention(store: Store, id: string, { at, event, errorType }: Intervention): void {
  store.run(
    'INSERT INTO interventions (subject, at, event, error_type) VALUES (?, ?, ?, ?)',
    id,
    at,
    event,
    errorType,
  );
}

/** Interventions on an order or return, in chronological order. */
export const interventionsIn = (store: Store, id: string): Intervention[] =>
  store
    .all('SELECT at, event, error_type FROM interventions WHERE subject = ? ORDER BY seq', id)
    .map(({ at, event, error_type: errorType }) => ({
      at: Number(at),
      event: String(event),
      errorType: errorType === null ? null : String(errorType),
    }));
