import { objectsIn, own, textIn } from '../../api/json.ts';
import { ErrandError, type ErrorFacts } from '../../platform/errors.ts';

/** An order that meets the same need, in the state that the service reports now. */
export interface EarlierOrder {
  readonly id: string;
  /** Status of the order at the service. `returned` if everything was sent back. */
  readonly status: string;
  /** When the service created the order, ISO 8601. */
  readonly createdAt: string;
  /** Age of the order in ms, by the service's clock. */
  readonly ageMs: number;
}

/** A field in which the order differs from the earlier order. */
export interface OrderDifference {
  /** Such as `max_price` or `products.0.quantity`. */
  readonly field: string;
  readonly requested: unknown;
  readonly existing: unknown;
}

/** The order was placed before, so nothing was sent. `facts.hint` says how to place another order. */
export class DuplicateError extends ErrandError {
  override readonly name = 'DuplicateError';
  /** The earlier orders. There is only one, unless several were placed outside of errand. */
  readonly orders: readonly EarlierOrder[];
  /** Differences between the order and the earlier order; empty if there are none. */
  readonly differences: readonly OrderDifference[];

  constructor(
    message: string,
    facts: ErrorFacts,
    { orders, differences }: Pick<DuplicateError, 'orders' | 'differences'>,
  ) {
    super('conflict', message, facts);
    this.orders = orders;
    this.differences = differences;
  }
}

const codePattern = /^(reference|duplicate)_(\w+)$/;

const hints: Readonly<Record<string, string>> = {
  cancelled: 'Where it is to be bought again, place it with `again: true`.',
  returned: 'Where it is to be bought again, place it with `again: true`.',
  two_live: 'Look at the orders, and cancel what is not needed.',
  other_namespace: 'Where both are meant, place this one with another reference.',
};

const hintOf = (by: string, why: string): string =>
  hints[why] ??
  (by === 'reference'
    ? 'Another order takes another `reference`.'
    : 'Where another one is meant, place it with `new: true`, or with a `reference` of its own, which is bought once however often it is placed.');

/**
 * Converts the refusal of a duplicate order to this error. Returns undefined for any other error.
 * @param now is the service's time, in ms.
 */
export function duplicateIn(
  { category, message, facts }: ErrandError,
  now: number,
): DuplicateError | undefined {
  const [, by = '', why = ''] = codePattern.exec(facts.code ?? '') ?? [];
  if (category !== 'conflict' || why === '') return undefined;
  const several = objectsIn(facts.details, 'orders');
  const orders = (several.length > 0 ? several : [facts.details]).flatMap((order) => {
    const id = textIn(order, 'id') ?? textIn(order, 'order_id');
    const createdAt = textIn(order, 'made_at') ?? textIn(order, 'placed_at') ?? '';
    const ageMs = Math.max(0, now - Date.parse(createdAt));
    return id === undefined ? [] : { id, status: textIn(order, 'status') ?? '', createdAt, ageMs };
  });
  const differences = objectsIn(facts.details, 'differences').map((one) => ({
    ...{ field: textIn(one, 'field') ?? '' },
    ...{ requested: own(one, 'requested'), existing: own(one, 'existing') },
  }));
  // No option overrides a policy.
  const hint = textIn(facts.details, 'policy_rule') === undefined ? hintOf(by, why) : facts.hint;
  return new DuplicateError(
    message,
    { ...facts, ...(hint !== undefined && { hint }) },
    { orders, differences },
  );
}
