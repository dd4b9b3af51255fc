/**
 * Whether an event of an order can still be sent: `yes`; `sent`, it went out before, and a delivery of it may be under way;
 * `never`, it was not sent and will not be.
 */
export type StillComes = 'yes' | 'sent' | 'never';

/** Where an order stands, as far as its events depend on it. */
export interface Outlook {
  readonly status: string;
  readonly hasEnded: boolean;
  /** The state in words. */
  readonly state: string;
}

const failures: readonly string[] = ['request_failed', 'order_failed'];
/** The end of an order that no retailer ever took. */
const neverPlaced: readonly string[] = ['order_failed', 'cancelled'];

/**
 * Whether an event can still come, from the order as it stands. An order that goes on may send any; of one that was placed a
 * case may be opened long after its end. Pure.
 */
export function stillComes(event: string, { status, hasEnded }: Outlook): StillComes {
  if (!hasEnded) return 'yes';
  if (neverPlaced.includes(status))
    return failures.includes(event) || event === 'status_updated' ? 'sent' : 'never';
  if (event === 'case_updated') return 'yes';
  return failures.includes(event) && status === 'order_placed' ? 'never' : 'sent';
}
