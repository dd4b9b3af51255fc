import { checkShape } from '../../api/schemas/check.ts';
import type { Shape } from '../../api/schemas/index.ts';
import { issueText } from '../../api/validation.ts';
import { parseDocument } from '../../format/parse-document.ts';
import { UsageError } from '../../platform/errors.ts';

const centFields = ['max_price'] as const satisfies readonly (keyof Shape<'OrderCreate'>)[];

const mostShown = 10;

/** The body of a request, and where it comes from. */
export interface GivenBody {
  readonly body: Buffer | undefined;
  /** The file of `--input`; undefined where fields made the body. */
  readonly file: string | undefined;
}

/** @throws UsageError naming the source and each field that is wrong. */
export function readShape<N extends 'OrderCreate' | 'BulkUploadRequest' | 'ReturnRequestCreate'>(
  shape: N,
  what: string,
  { body, file }: GivenBody,
): Shape<N> {
  const name = file === undefined ? 'the fields' : file === '-' ? 'stdin' : file;
  const checked = checkShape(shape, parseBody(name, body), 'body');
  if (!checked.issues) return checked.value;
  const shown = checked.issues.slice(0, mostShown).map((issue) => issueText(issue, name));
  const more = checked.issues.length - shown.length;
  const rest = more > 0 ? [`and ${more} more`] : [];
  throw new UsageError(`${name}: not a valid ${what}: ${[...shown, ...rest].join('; ')}`, {
    code: 'validation_error',
    details: { detail: checked.issues },
  });
}

function parseBody(name: string, body: Buffer | undefined): unknown {
  const text = body?.toString('utf8') ?? '{}';
  try {
    JSON.parse(text);
  } catch (cause) {
    throw new UsageError(`${name} is not JSON: ${cause instanceof Error ? cause.message : ''}`, { cause });
  }
  return parseDocument(name, text, true, centFields);
}
