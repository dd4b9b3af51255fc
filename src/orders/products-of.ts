import { numberIn, objectsIn, own, textIn } from '../contract/json.ts';

/** A product of an order, by its title, or by its URL as long as no receipt names it. */
interface OrderedProduct {
  readonly name: string;
  readonly quantity: number;
}

/** What was ordered: titles from the receipt, else the URLs of the lines. Takes an order, or the body of a request for one. */
export function productsOf(order: unknown): OrderedProduct[] {
  const cart = objectsIn(own(own(order, 'job_result'), 'price_components'), 'cart_items');
  const lines = [...objectsIn(order, 'items'), ...objectsIn(order, 'products')];
  // A receipt that lacks a line names none: a list of some of the products would pass for all of them.
  const [from, name] =
    cart.length >= lines.length && cart.every((item) => textIn(item, 'name'))
      ? [cart, 'name']
      : [lines, 'url'];
  return from.map((item) => ({ name: textIn(item, name) ?? '?', quantity: numberIn(item, 'quantity') ?? 1 }));
}
