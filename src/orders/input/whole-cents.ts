import type { Shape } from '../../api/schemas/index.ts';
import { UsageError } from '../../platform/errors.ts';

/**
 * Rejects a flat margin with a fraction, because a flat margin is in cents. The schema allows fractions only because a
 * margin may also be a percentage.
 * @throws UsageError.
 */
export function wholeCents(order: Shape<'OrderCreate'>, file: string | undefined): Shape<'OrderCreate'> {
  const { margin } = order.payment ?? {};
  if (margin?.type !== 'flat' || Number.isInteger(margin.value)) return order;
  const where = file === undefined ? '' : ` (${file === '-' ? 'stdin' : file})`;
  throw new UsageError(
    `payment.margin.value${where} is ${margin.value}, and a flat margin is in whole cents: write 200 for $2.00`,
  );
}
