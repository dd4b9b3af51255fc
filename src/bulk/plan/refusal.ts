import { ErrandError, type ErrorFacts } from '../../platform/errors.ts';
import { rangesText, rowsNamed } from './ranges.ts';

/** Why a row cannot be placed as it was planned. */
export interface RowProblem {
  readonly row: number;
  readonly why: string;
}

/** Problems and rows that an error names one by one. */
const mostNamed = 10;
const mostListed = 1000;

interface Refusing {
  /** The plan's file, as it was given. */
  readonly path: string;
  readonly code: string;
  /** What is wrong; follows the file's name. */
  readonly what: string;
  /** The rows that it is about, or none where they cannot be told. */
  readonly rows: readonly number[];
  readonly problems?: readonly RowProblem[];
  readonly hint?: string | undefined;
  /** Whether `what` names the rows. */
  readonly namesRows?: boolean;
  /** Rows that were sent before, or may have been. */
  readonly sent?: readonly number[];
  readonly next?: ErrorFacts['next'];
}

/** Rows with the same problem together, in the order of the first of them. */
function groupsOf(problems: readonly RowProblem[]): { readonly rows: string; readonly why: string }[] {
  const rows = new Map<string, number[]>();
  for (const { row, why } of problems) {
    const group = rows.get(why) ?? [];
    rows.set(why, group);
    group.push(row);
  }
  return [...rows].map(([why, numbers]) => ({ rows: rangesText(numbers), why }));
}

/** A plan no longer holds. Nothing was sent. */
export function planRefused({
  path,
  code,
  what,
  rows,
  problems = [],
  hint,
  namesRows = false,
  sent = [],
  next,
}: Refusing): ErrandError {
  const grouped = groupsOf(problems);
  const named = grouped
    .slice(0, mostNamed)
    .map(({ rows: of, why }) => `${of.includes(',') || of.includes('-') ? 'rows' : 'row'} ${of}: ${why}`);
  const more = grouped.length - named.length;
  const listed = [...named, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
  const about = rows.length === 0 || namesRows ? '' : `; ${rowsNamed(rows)} not placed`;
  const before = sent.length === 0 ? '' : ` (${rowsNamed(sent)} sent before)`;
  return new ErrandError(
    'policy',
    `${path} ${what}${listed === '' ? '' : `: ${listed}`}${about}${before}; nothing was sent${sent.length === 0 ? '' : ' now'}`,
    {
      code,
      outcome: 'not_sent',
      retryable: false,
      details: {
        plan: path,
        ...(rows.length > 0 && { rows: rangesText(rows) }),
        ...(sent.length > 0 && { sent_before: rangesText(sent) }),
        ...(problems.length > 0 && { problems: grouped.slice(0, mostListed) }),
      },
      hint: hint ?? 'Plan again in the way that it was planned.',
      next,
    },
  );
}
