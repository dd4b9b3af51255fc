/**
 * Facts about an order, other than the amount, that limits may depend on. All of them except the retailers are hashed,
 * because a reservation outlives its order.
 */
export interface ReservedFacts {
  /** Retailer names and hosts. */
  readonly retailers: readonly string[];
  readonly metadata: readonly string[];
  readonly products: readonly string[];
  /** Hash of the canonical recipient. */
  readonly recipient?: string;
  /**
   * Takes the place of `recipient` in a reservation from before the canonical form. In such a reservation, `products`
   * has another form, too.
   */
  readonly address?: string;
}

/** Identifies an order whose money is reserved. */
export interface OrderId {
  /** Idempotency key of the order; for a row of a batch, the row's own key. */
  readonly key: string;
  readonly baseUrl: string;
  readonly account: string;
}

/** What a limit adds up: the money reserved in a period, for all orders or for a part of them. */
export interface SummedLimit {
  readonly isRehearsal: boolean;
  /** The first moment of the period, in ms since the epoch. */
  readonly begin: number;
  /** The first moment after the period, in ms since the epoch. */
  readonly end: number;
  /** A retailer's name or host. */
  readonly retailer: string | undefined;
  /** Hashes of metadata that an order must have. */
  readonly metadata: readonly string[];
}

/** The part of a reservation that decides whether a limit counts it. */
interface Counted {
  readonly at: number;
  readonly isRehearsal: boolean;
  readonly isAltered?: boolean;
  readonly facts: { readonly retailers: readonly string[]; readonly metadata: readonly string[] };
}

/** Whether a name in a policy is a host. A host needs no lookup at the service. */
export const isHost = (name: string): boolean => name.includes('.');

/**
 * Whether a name in a policy is one of the names of a retailer. If the name is a host, it also matches the host's
 * subdomains.
 */
export const isRetailer = (name: string, known: readonly string[]): boolean =>
  known.some((one) => one === name || (isHost(name) && one.endsWith(`.${name}`)));

/** Whether a limit counts a reservation. An altered reservation counts in every limit of its period. */
export const isSummed = (
  { isRehearsal, begin, end, retailer, metadata }: SummedLimit,
  { at, facts, ...one }: Counted,
): boolean =>
  one.isRehearsal === isRehearsal &&
  at >= begin &&
  at < end &&
  (one.isAltered === true ||
    ((retailer === undefined || isRetailer(retailer, facts.retailers)) &&
      metadata.every((pair) => facts.metadata.includes(pair))));

/**
 * SQL condition that does the same as `isSummed`. @param row is a row of reservations. @param sum is a row of
 * `limit_sums`.
 */
export const summedSql = (row: string, sum = 'limit_sums'): string =>
  `${sum}.rehearsal = ${row}.rehearsal AND ${sum}.begins <= ${row}.at AND ${row}.at < ${sum}.ends
   AND (${sum}.retailer = '' OR EXISTS (SELECT 1 FROM json_each(${factSql(row, 'retailers')}) AS known
     WHERE known.value = ${sum}.retailer OR (instr(${sum}.retailer, '.') > 0
       AND substr(known.value, -length(${sum}.retailer) - 1) = '.' || ${sum}.retailer)))
   AND NOT EXISTS (SELECT 1 FROM json_each(${sum}.metadata) AS pair
     WHERE pair.value NOT IN (SELECT value FROM json_each(${factSql(row, 'metadata')})))`;

/** SQL for a list in a reservation's facts, as JSON; an empty list if the facts are not JSON. */
export const factSql = (row: string, name: 'retailers' | 'metadata' | 'products'): string =>
  `CASE WHEN json_valid(${row}.facts) THEN coalesce(json_extract(${row}.facts, '$.${name}'), '[]') ELSE '[]' END`;
