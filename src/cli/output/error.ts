import type { Output } from '../../api/outputs/index.ts';
import type { OutputFormat } from '../../format/result.ts';
import { toError } from '../../platform/errors.ts';
import { redactor } from '../../platform/redact/redactor.ts';
import type { Io } from '../../platform/streams.ts';
import { asTyped } from './as-typed.ts';
import { deliverErr } from './notice.ts';
import { paintFor } from './paint.ts';
import { makeRoom } from './writer.ts';

/** Report of any failure. Its members have the same names as in the JSON output. */
export type ErrorReport = Omit<Output<'ErrorReport'>, 'stack'>;

/**
 * Reports an error on stderr, as one line of JSON if the format is json or ndjson, and as text otherwise. Includes the
 * stack only with `debug`.
 * @returns whether stderr accepted it.
 */
export async function renderError(
  error: unknown,
  io: Io,
  format: OutputFormat,
  { debug }: { readonly debug: boolean },
): Promise<boolean> {
  if (io.stderr.isTerminal) makeRoom(true);
  const report = reportOf(error);
  const stack = debug ? stackOf(error) : undefined;
  if (format === 'json' || format === 'ndjson') {
    const { toJson } = await import('./json.ts');
    return deliverErr(io, `${toJson({ error: stack === undefined ? report : { ...report, stack } })}\n`);
  }
  const { errorLines } = await import('./error-text.ts');
  const { safeLines } = await import('../../platform/redact/safe-text.ts');
  const { foldLines } = await import('./notice.ts');
  const lines = foldLines(
    errorLines(report, await paintFor(io.stderr.color)).map((line) => asTyped(line, io)),
    io,
  );
  return deliverErr(
    io,
    [...lines, ...(stack === undefined ? [] : [safeLines(stack)])].map((line) => `${line}\n`).join(''),
  );
}

function reportOf(error: unknown): ErrorReport {
  const { category, message, exitCode, facts } = toError(error);
  return {
    category,
    code: facts.code ?? null,
    message,
    status: facts.status ?? null,
    exit_code: exitCode,
    details: facts.details ?? null,
    hint: facts.hint ?? null,
    request_id: facts.requestId ?? null,
    attempts: facts.attempts ?? null,
    retryable: facts.retryable ?? null,
    retry_after_ms: facts.retryAfterMs ?? null,
    idempotency_key: facts.idempotencyKey ?? null,
    outcome: facts.outcome ?? null,
    next: facts.next ?? [],
  };
}

/** Maximum depth of a cause chain, which may be circular. */
const maxCauseDepth = 8;

function stackOf(error: unknown, depth = 0): string | undefined {
  if (!(error instanceof Error) || depth > maxCauseDepth) return undefined;
  const cause = stackOf(error.cause, depth + 1);
  const own = redactor.text(error.stack ?? String(error));
  return cause === undefined ? own : `${own}\ncaused by: ${cause}`;
}
