import { numberIn, objectsIn, own, textIn } from '../contract/json.ts';
import type { TitleOf } from '../output/result.ts';

/** A product of an order, by its title, or by its URL as long as nothing names it. */
interface OrderedProduct {
  readonly name: string;
  readonly quantity: number;
}

/**
 * What was ordered: by its title in the receipt, else as `titleOf` knows the URL of its line, else by that URL. Takes an
 * order, or the body of a request for one.
 */
export function productsOf(order: unknown, titleOf: TitleOf = () => undefined): OrderedProduct[] {
  const cart = objectsIn(own(own(order, 'job_result'), 'price_components'), 'cart_items');
  const lines = [...objectsIn(order, 'items'), ...objectsIn(order, 'products')];
  // A receipt that lacks a line does not stand for the order: a list of some of the products would pass for all of them.
  if (cart.length >= lines.length && cart.every(nameOf))
    return cart.map((item) => ({ name: nameOf(item) ?? '?', quantity: quantityOf(item) }));
  const byId = new Map(cart.map((item) => [textIn(item, 'product_id') || undefined, nameOf(item)]));
  return lines.map((line) => {
    const url = textIn(line, 'url') ?? '?';
    const received = idsIn(url).map((id) => byId.get(id));
    return { name: received.find(Boolean) ?? titleOf(url) ?? url, quantity: quantityOf(line) };
  });
}

const nameOf = (item: unknown): string | undefined => textIn(item, 'name') || undefined;
const quantityOf = (item: unknown): number => numberIn(item, 'quantity') ?? 1;

/** The parts of a product's URL, one of which may be the retailer's id of it. */
const idsIn = (url: string): string[] =>
  URL.canParse(url) ? new URL(url).pathname.split('/').filter(Boolean) : [];
