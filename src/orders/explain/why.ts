import { failedOrderStatuses } from '../../api/enums.ts';
import { errorHint, errorTypeHint } from '../../api/error-codes.ts';
import { type JsonObject, objectsIn, own, textIn } from '../../api/json.ts';
import { isAbout, spoken } from '../../api/order-state.ts';
import type { JournalRecord } from '../../journal/journal-record.ts';
import { concessionText } from '../concessions.ts';

/** Why something came to nothing, or to less than was asked for. */
export interface Why {
  /** The service's code; null where it gives none. */
  readonly code: string | null;
  readonly message: string;
  /** What to do about it. */
  readonly hint: string | null;
}

/** Why an order failed, and every part of it that did; none for an order that did not. Pure. */
export function whyOf(order: unknown): Why[] {
  const result = own(order, 'job_result');
  const details = own(result, 'error_details');
  const type = textIn(result, 'error_type') ?? textIn(details, 'code');
  const message = textIn(result, 'error') ?? textIn(details, 'message');
  const status = textIn(order, 'status') ?? '';
  const hasFailed = failedOrderStatuses.some((failed) => failed === status);
  const hasAccount = own(order, 'retailer_credentials_id') != null;
  const hintOf = (code: string | undefined): string | undefined =>
    hasFailed && code !== undefined ? errorTypeHint(code, hasAccount) : undefined;
  const whole =
    hasFailed && (type !== undefined || message !== undefined) ? [reason(type, message, hintOf(type))] : [];
  const items = objectsIn(order, 'items');
  const isOneLine = items.length <= 1;
  const concessions = objectsIn(own(order, 'fulfillment'), 'concessions');
  const lines = [
    ...objectsIn(details, 'line_rejections').map((line) => partOf(line, 'url', 'message', hintOf)),
    ...items.flatMap((item) => {
      if (textIn(item, 'cancellation_reason') !== undefined)
        return [partOf(item, 'url', 'cancellation_reason', hintOf)];
      const code = textIn(item, 'error_type');
      const isTold =
        code === undefined ||
        code === type ||
        concessions.some(({ item_id: itemId, url }) => isAbout({ itemId, url }, item));
      return isTold ? [] : [partOf({ ...item, said: spoken(code) }, 'url', 'said', hintOf)];
    }),
  ];
  // A field says where only what no line says.
  const fields = objectsIn(details, 'field_errors')
    .map((field) => partOf(field, 'field', 'message'))
    .filter(({ text }) => ![message, ...lines.map((line) => line.text)].some((said) => says(said, text)));
  const relaxed = concessions.map((concession) => {
    const text = concessionText(concession);
    const url = isOneLine ? undefined : textIn(concession, 'url');
    return reason(textIn(concession, 'code'), url ? `${url}: ${text}` : text, undefined);
  });
  // A part that says what the whole order says already only tells which part it is, where there are several.
  const parts = [...fields, ...lines].flatMap(({ name, text, why }) => {
    const isSaid = whole.length > 0 && says(message, text);
    if (isOneLine && (isSaid || (why.code !== null && why.code === type))) return [];
    return isSaid && name !== undefined ? [{ ...why, message: `that is ${name}` }] : [why];
  });
  const more = unique([...parts, ...relaxed]);
  return withAdvice([...whole, ...more], status);
}

/** Whether a text says another already, whatever its last stop. */
const says = (said: string | undefined, text: string): boolean =>
  said !== undefined && text !== '' && said.includes(text.replace(/\.$/, ''));

/** Each message once. */
const unique = (reasons: readonly Why[]): Why[] =>
  reasons.filter(({ message }, at) => reasons.findIndex((one) => one.message === message) === at);

/** What to do where no code says it. */
const statusHints: Readonly<Record<string, { readonly message: string; readonly hint: string }>> = {
  cancelled: {
    message: 'it was cancelled before it was placed',
    hint: 'Order it again if it is still wanted.',
  },
  cancelled_by_retailer: {
    message: 'the retailer cancelled it',
    hint: 'Order again later, or from another retailer; the fee of the service does not come back.',
  },
};

function withAdvice(reasons: readonly Why[], status: string): Why[] {
  const known = Object.hasOwn(statusHints, status) ? statusHints[status] : undefined;
  if (!known || reasons.some(({ hint }) => hint !== null)) return [...reasons];
  const [first = { code: null, message: known.message }, ...rest] = reasons;
  return [{ ...first, hint: known.hint }, ...rest];
}

/** Why the service refused an intent, as the journal keeps it. */
export const whyRefused = ({ state, code, message }: JournalRecord): Why[] =>
  state === 'refused'
    ? [{ code, message: message ?? 'the service refused it', hint: errorHint(code ?? '') ?? null }]
    : [];

const reason = (code: string | undefined, message: string | undefined, hint: string | undefined): Why => ({
  code: code ?? null,
  message: message ?? 'the service gives no reason',
  hint: hint ?? null,
});

type HintOf = (code: string | undefined) => string | undefined;

/** What a part of an order says: which part, and why. */
function partOf(
  part: JsonObject,
  name: string,
  why: string,
  hintOf: HintOf = () => undefined,
): { name: string | undefined; text: string; why: Why } {
  const text = textIn(part, why) ?? '';
  const message = [textIn(part, name), text].filter((one) => one !== undefined && one !== '').join(': ');
  const code = textIn(part, 'code') ?? textIn(part, 'error_type');
  return { name: textIn(part, name), text, why: reason(code, message, hintOf(code)) };
}
