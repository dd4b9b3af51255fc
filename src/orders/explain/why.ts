import { failedOrderStatuses } from '../../contract/enums.ts';
import { errorHint, errorTypeHint } from '../../contract/error-codes.ts';
import { type JsonObject, objectsIn, own, textIn } from '../../contract/json.ts';
import type { JournalRecord } from '../../state/journal-record.ts';

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
  const whole = hasFailed && (type !== undefined || message !== undefined) ? [reason(type, message)] : [];
  const parts = [
    ...objectsIn(details, 'field_errors').map((field) => partOf(field, 'field', 'message', false)),
    ...objectsIn(details, 'line_rejections').map((line) => partOf(line, 'url', 'message')),
    ...objectsIn(order, 'items').flatMap((item) => {
      if (textIn(item, 'cancellation_reason') !== undefined)
        return [partOf(item, 'url', 'cancellation_reason')];
      const code = textIn(item, 'error_type');
      return code === undefined || code === type ? [] : [partOf(item, 'url', 'error_type')];
    }),
    ...objectsIn(own(order, 'fulfillment'), 'concessions').map((concession) => {
      const text = `relaxed, as you allowed: ${textIn(concession, 'message') ?? ''}`;
      return { text, why: reason(textIn(concession, 'code'), text, false) };
    }),
  ];
  // A part that says what the whole order says already says nothing more.
  const said = new Set(whole.map(({ code, message: text }) => `${code} ${text}`));
  return [
    ...whole,
    ...parts.filter(({ text, why }) => !said.has(`${why.code} ${text}`)).map(({ why }) => why),
  ];
}

/** Why the service refused an intent, as the journal keeps it. */
export const whyRefused = ({ state, code, message }: JournalRecord): Why[] =>
  state === 'refused'
    ? [{ code, message: message ?? 'the service refused it', hint: errorHint(code ?? '') ?? null }]
    : [];

const reason = (code: string | undefined, message: string | undefined, hasHint = true): Why => ({
  code: code ?? null,
  message: message ?? 'the service gives no reason',
  hint: (hasHint && code !== undefined ? errorTypeHint(code) : undefined) ?? null,
});

/** What a part of an order says: which part, and why. */
function partOf(part: JsonObject, name: string, why: string, hasHint = true): { text: string; why: Why } {
  const text = textIn(part, why) ?? '';
  const message = [textIn(part, name), text].filter((one) => one !== undefined && one !== '').join(': ');
  return { text, why: reason(textIn(part, 'code') ?? textIn(part, 'error_type'), message, hasHint) };
}
