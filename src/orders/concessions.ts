import { numberIn, textIn } from '../api/json.ts';
import { quantityText } from '../api/order-state.ts';

/** What was relaxed for an order, as its own words have it: `As many as it sells were bought, as you allowed (2 of 5).` */
export function concessionText(concession: unknown): string {
  const requested = numberIn(concession, 'requested_quantity');
  const bought = numberIn(concession, 'fulfilled_quantity');
  const said = textIn(concession, 'message') || (textIn(concession, 'code') ?? '').replaceAll('_', ' ');
  const counts =
    requested === undefined || bought === undefined ? '' : ` (${quantityText({ bought, requested })})`;
  return `${withoutStop(said || 'something was relaxed')}, as you allowed${counts}.`;
}

/** Texts one after the other: what is no sentence yet ends with a semicolon, and the last stays as it is. */
export const sentences = (texts: readonly string[]): string =>
  texts.map((text, at) => (at === texts.length - 1 || isSentence(text) ? text : `${text};`)).join(' ');

const isSentence = (text: string): boolean => /[.!?]\)?$/.test(text);

const withoutStop = (text: string): string => (text.endsWith('.') ? text.slice(0, -1) : text);
