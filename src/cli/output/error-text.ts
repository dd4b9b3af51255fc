import { safeText } from '../../platform/redact/safe-text.ts';
import type { ErrorReport } from './error.ts';
import { detailLines } from './error-details.ts';
import type { Paint } from './paint.ts';

/** A failure for people: what happened, why, and what to do. Safe for a terminal. */
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

/** Who interrupts knows that it ends: no error, but where things stand and what goes on. */
const stoppedLines = ({ message, hint, next }: ErrorReport, paint: Paint): string[] => [
  safeText(message),
  ...(hint === null ? [] : [paint.faint(safeText(hint))]),
  ...next.map(
    ({ command, when }) => `${paint.faint(`${safeText(when)}:`)} ${paint.command(safeText(command))}`,
  ),
];

/** What helps when asking the service about it. */
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
