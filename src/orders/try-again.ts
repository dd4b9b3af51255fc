import type { ErrorType } from '../api/error-types.ts';
import { objectsIn, textIn } from '../api/json.ts';
import { isFailedOrder } from '../api/order-state.ts';
import { valueAt } from '../api/received.ts';
import { formatMoney } from '../format/money.ts';
import { plainText } from '../format/path.ts';
import { shellLine, shellWord } from '../platform/shell.ts';
import { whereFlags } from '../run/context-flags.ts';
import type { OrderContext } from '../run/order-context.ts';
import type { Order, OrderRecord } from './order-record.ts';
import { quotedOf } from './screen.ts';

interface Change {
  /** Says what the command changes. The text comes before the command. */
  readonly what: string;
  /** Flags of `order create` that make the change. */
  readonly flags: string;
}

/**
 * Changes that may let a failed order succeed, by error type. An order that failed for another reason is repeated
 * unchanged.
 */
const changes: { readonly [K in ErrorType]?: (order: OrderRecord) => Change } = {
  max_price_exceeded: higherCeiling,
  out_of_stock: otherProduct,
  product_out_of_stock: otherProduct,
  product_unavailable: otherProduct,
  product_not_found: otherProduct,
  invalid_product_url: otherProduct,
  invalid_variant: otherVariant,
  product_variant_required: otherVariant,
  product_variant_unavailable: otherVariant,
  shipping_unavailable: otherAddress,
  shipping_address_invalid: otherAddress,
  gift_option_unavailable: () => ({
    what: 'as no gift, where gifts are not offered',
    flags: ' --best-effort gift',
  }),
  quantity_limit_exceeded: fewer,
  product_quantity_unavailable: fewer,
};

function higherCeiling(order: OrderRecord): Change {
  const quoted = quotedOf(order);
  const what = 'with a higher ceiling';
  return quoted?.currency === 'USD'
    ? { what, flags: ` --max-price ${shellWord(formatMoney(quoted.cents))}` }
    : { what, flags: ' --max-price AMOUNT' };
}

function otherProduct(): Change {
  return { what: 'with another product', flags: ' --product URL' };
}

function otherVariant(order: OrderRecord): Change {
  const urls = objectsIn(order, 'items').flatMap((line) => textIn(line, 'url') ?? []);
  const [url] = urls;
  const product = urls.length === 1 && url !== undefined ? shellWord(url) : 'URL';
  return { what: 'with another variant', flags: ` --product ${product},variant=LABEL:VALUE` };
}

function otherAddress(): Change {
  return { what: 'to another address', flags: ' --ship-to NAME' };
}

function fewer(): Change {
  return { what: 'with as many as the retailer sells', flags: ' --best-effort quantity' };
}

/**
 * The command that repeats a failed order with the change that the order needs; undefined if the order did not fail.
 */
export function tryAgainLine(context: OrderContext, order: OrderRecord): string | undefined {
  if (!isFailedOrder(order.status)) return undefined;
  const type = valueAt<Order>(order, 'job_result.error_type');
  const change = typeof type === 'string' && isKnown(type) ? changes[type]?.(order) : undefined;
  const command = `${shellLine`errand order create --like ${plainText(order.id)}`}${change?.flags ?? ''}${whereFlags(context)}`;
  return `try again${change ? ` ${change.what}` : ''}: ${command}`;
}

const isKnown = (type: string): type is ErrorType => Object.hasOwn(changes, type);
