import { type JsonObject, numberIn, objectsIn, own, textIn } from '../api/json.ts';
import { isFailedOrder, shortfallOf, shortfallsIn } from '../api/order-state.ts';
import type { TitleOf } from '../format/result.ts';

/** A product of an order, by its title, or by its URL as long as nothing names it. */
interface OrderedProduct {
  readonly name: string;
  readonly bought: number;
  /** What was asked for, where less was bought. */
  readonly requested?: number;
}

/**
 * What was ordered: by its title in the receipt, else as `titleOf` knows the URL of its line, else by that URL. Takes an
 * order, or the body of a request for one.
 */
export function productsOf(order: unknown, titleOf: TitleOf = () => undefined): OrderedProduct[] {
  const cart = objectsIn(own(own(order, 'job_result'), 'price_components'), 'cart_items');
  const lines = [...objectsIn(order, 'items'), ...objectsIn(order, 'products')];
  const shortfalls = isFailedOrder(textIn(order, 'status')) ? [] : shortfallsIn(own(order, 'fulfillment'));
  // A receipt that lacks a line does not stand for the order: a list of some of the products would pass for all of them.
  const isWhole = cart.length >= lines.length && cart.every(nameOf);
  if (isWhole && shortfalls.length === 0)
    return cart.map((item) => ({ name: nameOf(item) ?? '?', bought: quantityOf(item) }));
  const only = isWhole && cart.length === 1 ? nameOf(cart[0]) : undefined;
  const nameLine = lineNames(order, (url) => only ?? titleOf(url));
  return lines.map((line) => {
    const name = nameLine(line);
    const shortfall = shortfallOf(line, shortfalls);
    if (!shortfall) return { name, bought: quantityOf(line) };
    return { name, bought: shortfall.bought, requested: shortfall.requested };
  });
}

/** Names one line of an order: by the receipt where that has it, else as `titleOf` knows its URL, else by that URL. */
export function lineNames(order: unknown, titleOf: TitleOf = () => undefined): (line: JsonObject) => string {
  const cart = objectsIn(own(own(order, 'job_result'), 'price_components'), 'cart_items');
  const byId = new Map(cart.map((item) => [textIn(item, 'product_id') || undefined, nameOf(item)]));
  return (line) => {
    const url = textIn(line, 'url') ?? '?';
    const received = idsIn(url).map((id) => byId.get(id));
    return received.find(Boolean) ?? titleOf(url) ?? url;
  };
}

const nameOf = (item: unknown): string | undefined => textIn(item, 'name') || undefined;
const quantityOf = (item: unknown): number => numberIn(item, 'quantity') ?? 1;

/** The parts of a product's URL, one of which may be the retailer's id of it. */
const idsIn = (url: string): string[] =>
  URL.canParse(url) ? new URL(url).pathname.split('/').filter(Boolean) : [];
