import { readRejectedLine, rejectionText } from '../../format/line-rejections.ts';
import { formatMoney } from '../../format/money.ts';
import { isRecord } from '../../format/path.ts';
import { safeText } from '../../platform/redact/safe-text.ts';
import type { ErrorReport } from './error.ts';
import type { Paint } from './paint.ts';

/** Formats an error for display: what happened, why and what to do. Safe for a terminal. */
export function errorLines(report: ErrorReport, paint: Paint): string[] {
  const code = report.code === null ? '' : ` (${report.code})`;
  if (report.category === 'interrupted' && report.outcome !== 'unknown') return stoppedLines(report, paint);
  return [
    `${paint.bad('error:')} ${safeText(report.message + code)}`,
    ...detailLines(report).map((line) => `  ${safeText(line)}`),
    ...circumstances(report).map((line) => paint.faint(`  ${safeText(line)}`)),
    ...(report.hint === null ? [] : [`${paint.waiting('hint:')} ${safeText(report.hint)}`]),
    ...report.next.map(
      ({ command, when }) => `${paint.waiting('try:')} ${safeText(command)} — ${safeText(when)}`,
    ),
  ];
}

/** Lines for an interruption by the user, which is not an error. They show the current state and how to resume. */
const stoppedLines = ({ message, hint, next }: ErrorReport, paint: Paint): string[] => [
  safeText(message),
  ...(hint === null ? [] : [paint.faint(safeText(hint))]),
  ...next.map(
    ({ command, when }) => `${paint.faint(`${safeText(when)}:`)} ${paint.command(safeText(command))}`,
  ),
];

/** Facts useful when contacting the service. */
function circumstances({
  status,
  request_id,
  attempts,
  retry_after_ms,
  idempotency_key,
  outcome,
}: ErrorReport): string[] {
  const facts = [
    status !== null && `status ${status}`,
    attempts !== null && attempts > 1 && `${attempts} attempts`,
    retry_after_ms !== null && `retry after ${Math.ceil(retry_after_ms / 1000)}s`,
    request_id !== null && `request ${request_id}`,
    idempotency_key !== null && `idempotency key ${idempotency_key}`,
    outcome === 'unknown' && 'outcome unknown',
  ].filter((fact) => fact !== false);
  return facts.length === 0 ? [] : [facts.join(', ')];
}

/** Maximum number of detail lines shown. Further lines are only counted, and `-o json` prints them all. */
const maxLines = 20;

/**
 * Formats an error's details as lines. For insufficient funds, the lines show the amount needed and the ways to
 * proceed; all other details are listed as they are.
 */
export function detailLines({
  code,
  details,
  message,
}: Pick<ErrorReport, 'code' | 'details' | 'message'>): string[] {
  if (code === 'validation_error' && isInMessage(details, message)) return [];
  const lines = linesOf(code, details);
  if (lines.length <= maxLines) return lines;
  return [...lines.slice(0, maxLines), `… and ${lines.length - maxLines} more; -o json shows all`];
}

function linesOf(code: string | null, details: unknown): string[] {
  if (code === 'insufficient_funds' && isRecord(details)) return fundLines(details);
  // Omit the payment address here, because the hint shows it after checking it.
  if (code === 'payment_required' && isRecord(details)) return plainLines({ ...details, pay_url: null });
  if (isRecord(details) && isRecord(details.policy)) return policyLines(details.policy);
  return plainLines(details);
}

/** Lists every row that violates a rule of the policy. The error message names only the first row. */
function policyLines({ rows }: Readonly<Record<string, unknown>>): string[] {
  const named = (Array.isArray(rows) ? rows : []).filter(isRecord).filter(({ row }) => row !== null);
  return named.length < 2
    ? []
    : named.map(({ row, rule, message }) => `row ${plain(row)}, ${plain(rule)}: ${plain(message)}`);
}

/** Whether the message already contains every issue of the validation body. */
function isInMessage(details: unknown, message: string): boolean {
  const issues = isRecord(details) && Array.isArray(details.detail) ? details.detail : [];
  return issues.length > 0 && issues.every((issue) => isRecord(issue) && message.includes(String(issue.msg)));
}

function fundLines({
  required,
  available,
  fund_with,
  ...others
}: Readonly<Record<string, unknown>>): string[] {
  const known = typeof required === 'number' && typeof available === 'number';
  const amounts = known
    ? [
        `needs     ${formatMoney(required)}`,
        `has       ${formatMoney(available)}`,
        `short by  ${formatMoney(required - available)}`,
      ]
    : plainLines({ required, available });
  const ways = Array.isArray(fund_with) ? fund_with : [];
  return [
    ...amounts,
    ...(ways.length > 0 ? ['ways forward:', ...ways.map(wayForward)] : []),
    ...plainLines(others),
  ];
}

/** Payment rails that the specification explains; any other rail is shown verbatim. */
const rails: Readonly<Record<string, string>> = {
  your_retailer_account:
    'order with your own account at the retailer (--account); the wallet then pays the fee only',
};

function wayForward(way: unknown): string {
  if (!isRecord(way) || typeof way.rail !== 'string') return `- ${plain(way)}`;
  const { rail, message, ...facts } = way;
  const meaning = Object.hasOwn(rails, rail) ? [rails[rail]] : typeof message === 'string' ? [message] : [];
  const stated = Object.entries(facts)
    .filter(([, value]) => value !== null)
    .map(([key, value]) => `${key} ${plain(value)}`);
  return `- ${[`${rail}`, [...meaning, ...stated].join(', ')].filter((part) => part !== '').join(': ')}`;
}

function plainLines(details: unknown): string[] {
  if (details === undefined || details === null) return [];
  if (Array.isArray(details)) return details.map((entry) => fault(entry) ?? plain(entry));
  if (!isRecord(details)) return [plain(details)];
  return Object.entries(details).flatMap(([key, value]) => {
    // Leave out `made`, because the message already names the record that was made.
    if (value === null || value === undefined || key === 'made') return [];
    if (Array.isArray(value) && value.length === 0) return [];
    if (Array.isArray(value) && value.some(isRecord))
      return value.map((entry) => fault(entry, key) ?? `${key}: ${plain(entry)}`);
    return [`${key}: ${plain(value)}`];
  });
}

/**
 * Formats one entry as its location and the problem. The entry is part of a validation body (`loc`, `msg`), or
 * describes a part or row of a file that failed.
 */
function fault(entry: unknown, key?: string): string | undefined {
  if (!isRecord(entry)) return undefined;
  if (key === 'line_rejections') return rejectionText(readRejectedLine(entry)) || undefined;
  if (typeof entry.row === 'number' && typeof entry.text === 'string')
    return `row ${entry.row}: ${entry.text}`;
  if (typeof entry.row === 'number' && typeof entry.why === 'string')
    return earlierText(entry.row, entry.why, entry);
  const { loc, field, url, item_id, msg, message } = entry;
  const what = msg ?? message;
  if (typeof what !== 'string') return undefined;
  const place = Array.isArray(loc) ? loc.map(plain).join('.') : (field ?? url ?? item_id);
  return place === undefined || place === '' ? what : `${plain(place)}: ${what}`;
}

/** Formats a row that was ordered before, with its earlier orders: `row 2: alike: order ID (placed) of december`. */
function earlierText(row: number, why: string, { earlier }: Readonly<Record<string, unknown>>): string {
  const found = (Array.isArray(earlier) ? earlier : []).filter(isRecord);
  const orders = found.map(({ order_id: id, state, upload }) => {
    const order = typeof id === 'string' ? `order ${id}` : 'an order';
    return `${order} (${plain(state)})${typeof upload === 'string' ? ` of ${upload}` : ''}`;
  });
  return [`row ${row}`, why.replaceAll('_', ' '), ...(orders.length > 0 ? [orders.join(', ')] : [])].join(
    ': ',
  );
}

function plain(value: unknown): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value) && value.every((entry) => typeof entry === 'string')) return value.join(', ');
  return JSON.stringify(value) ?? String(value);
}
