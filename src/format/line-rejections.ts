import { type JsonObject, listIn, numberIn, objectsIn, own, textIn } from '../api/json.ts';
import { spoken } from '../api/order-state.ts';

/** An order line that the retailer rejected, parsed from either of the two forms in which the service reports it. */
export interface RejectedLine {
  /** The product's URL, or its id if no URL is given. */
  readonly name: string | undefined;
  readonly url: string | undefined;
  /** Id of the order's item. */
  readonly itemId: string | undefined;
  readonly codes: readonly string[];
  /** The reason, in the service's words or as its codes; empty if the service gives none. */
  readonly reason: string;
  /** Quantities such as `5 requested, 2 available`; empty if the service gives none. */
  readonly counts: string;
}

/** Reads the `line_rejections` of an order's `error_details`, or of the details of an error response. Pure. */
export const rejectedLines = (details: unknown): RejectedLine[] =>
  objectsIn(details, 'line_rejections').map(readRejectedLine);

/**
 * Parses a rejected line. @param line has one code and one message in the older format, and lists of both in the newer
 * format.
 */
export function readRejectedLine(line: JsonObject): RejectedLine {
  const url = textIn(line, 'url') || undefined;
  const itemId = textIn(line, 'item_id');
  const codes = textsIn(line, 'code', 'codes');
  const messages = textsIn(line, 'message', 'messages');
  return {
    name: url ?? textIn(line, 'product_id') ?? itemId,
    url,
    itemId,
    codes,
    reason: messages.length === 0 ? codes.map(spoken).join('; ') : joined(messages),
    counts: [
      countText(numberIn(line, 'requested_quantity'), 'requested'),
      countText(numberIn(line, 'available_quantity'), 'available'),
    ]
      .filter(Boolean)
      .join(', '),
  };
}

/**
 * Formats `URL: Only a few are left (5 requested, 2 available)`. @param isNamed tells whether to include the product.
 */
export function rejectionText({ name, reason, counts }: RejectedLine, isNamed = true): string {
  const why = reason !== '' && counts !== '' ? `${withoutStop(reason)} (${counts})` : reason || counts;
  return [isNamed ? name : undefined, why].filter(Boolean).join(': ');
}

/** Whether a text already contains another text, ignoring the final period of the latter. */
export const contains = (rendered: string | undefined, text: string): boolean =>
  rendered !== undefined && text !== '' && rendered.includes(withoutStop(text));

/**
 * Describes each rejected line of an order, to be shown next to the order's own error. Leaves out a reason that the
 * error already contains. In this case, also leaves out the product if the order has only one line. Pure.
 */
export function rejectionsBeside(order: unknown): string[] {
  const result = own(order, 'job_result');
  const details = own(result, 'error_details');
  const message = textIn(result, 'error') ?? textIn(details, 'message');
  const isOneLine = objectsIn(order, 'items').length <= 1;
  return rejectedLines(details).flatMap((line) => {
    const isRepeated = contains(message, line.reason);
    if (isRepeated && isOneLine) return line.counts === '' ? [] : [line.counts];
    return rejectionText(isRepeated ? { ...line, reason: '' } : line) || [];
  });
}

const textsIn = (line: JsonObject, one: string, several: string): string[] =>
  [own(line, one), ...listIn(line, several)]
    .filter((text) => typeof text === 'string' && text !== '')
    .map(String);

const countText = (count: number | undefined, what: string): string =>
  count === undefined ? '' : `${count} ${what}`;

const joined = ([first = '', ...others]: readonly string[]): string =>
  others.length === 0 ? first : [first, ...others].map(withoutStop).join('; ');

const withoutStop = (text: string): string => (text.endsWith('.') ? text.slice(0, -1) : text);
