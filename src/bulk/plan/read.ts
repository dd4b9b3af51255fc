import { planColumns } from '../../api/bulk-columns.ts';
import { orderOfRow, readBulkRow } from '../../api/bulk-row.ts';
import { numberIn, own } from '../../api/json.ts';
import type { Plan, PlanRow } from '../../api/schemas/plan-file.ts';
import { canonicalJson } from '../../format/canonical.ts';
import { ErrandError, type ErrorFacts, UsageError } from '../../platform/errors.ts';
import { shellWord } from '../../platform/shell.ts';
import { RowKeys } from '../rows.ts';
import {
  alteredRows,
  headProblem,
  rangesText,
  readPlanFile,
  rowsNamed,
  sealOf,
  usualTarget,
} from './file.ts';
import type { SendableRow } from './work.ts';

export interface ReadPlan {
  /** As it was given. */
  readonly path: string;
  readonly plan: Plan;
  /** Its rows as they are sent, in the same order. */
  readonly rows: readonly (SendableRow & { readonly planned: PlanRow })[];
}

/**
 * Reads a plan that may come from another machine: only one that is as it was written, to the byte, and whose rows say what
 * their cells say. @param where flags of commands to suggest, each after a space. @throws UsageError for a file that is no plan; ErrandError policy for one that was altered.
 */
export async function readPlan(path: string, where: string): Promise<ReadPlan> {
  const bytes = await readPlanFile(path);
  const state = sealOf(bytes);
  if (state === 'none')
    throw new UsageError(`${path} is not a plan; \`errand bulk plan\` writes one`, {
      ...(bytes.length > 0 && {
        next: [
          {
            command: `errand bulk plan ${shellWord(path)} --out ${shellWord(usualTarget(path))}${where}`,
            when: 'if it is a table of orders',
          },
        ],
      }),
    });
  if (state === 'altered') throw altered(path, bytes);
  const plan = await parse(path, bytes);
  const rows = sendableRows(path, plan);
  const what = headProblem(plan);
  if (what !== undefined) throw planRefused({ path, code: 'plan_altered', what, rows: [] });
  return { path, plan, rows };
}

function altered(path: string, bytes: Buffer) {
  const rows = alteredRows(bytes);
  return planRefused({
    path,
    code: 'plan_altered',
    what: `was altered since it was written, ${rows.length === 0 ? 'outside its rows' : `in ${rowsNamed(rows)}`}`,
    ...{ rows, namesRows: true },
    hint: 'Any change counts, even a line break. Use the original file, or plan again with the same options.',
  });
}

async function parse(path: string, bytes: Buffer): Promise<Plan> {
  const { PlanFile, planVersion } = await import('../../api/schemas/plan-file.ts');
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new UsageError(`${path} is not a plan: it is not JSON`, { cause });
  }
  const version = own(value, 'plan');
  if (version !== planVersion)
    throw new UsageError(
      `${path} is a plan of version ${JSON.stringify(version)}; this errand reads version ${planVersion}`,
      { hint: 'Plan again with this errand, or apply it with the one that wrote it.' },
    );
  const read = PlanFile.safeParse(value);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new UsageError(
    `${path} is not a plan as errand writes it: ${[issue?.path.map(String).join('.'), issue?.message].filter(Boolean).join(': ')}`,
    { cause: read.error },
  );
}

const hasRoom = ({ order, price_cents: price, room_cents: room }: PlanRow): boolean =>
  price === null ? room === null : price >= 0 && room === (numberIn(order, 'max_price') ?? 0) - price;

/** What is shown of a row must be what is sent: its order and its key follow from its cells. */
function sendableRows(path: string, { headings, rows, run }: Plan): ReadPlan['rows'] {
  const columns = planColumns(headings);
  const keys = new RowKeys(run);
  const seen = new Set<string>();
  let before = 0;
  return rows.map((planned) => {
    const { row: number, cells, key, order } = planned;
    const read = readBulkRow(columns, cells);
    const sent = keys.keyed({ plan: columns, cells, row: read });
    const made = read.cell('idempotency_key') || sent.idempotency_key;
    const meant = { ...orderOfRow(columns, cells, read), idempotency_key: key };
    const why =
      number <= before
        ? 'stands out of its order'
        : read.issues.length > 0
          ? `${read.issues[0]?.column} ${read.issues[0]?.message}`
          : made !== key || seen.has(key)
            ? 'its key does not follow from its order'
            : canonicalJson(meant) !== canonicalJson(order)
              ? 'its order is not what its cells say'
              : !hasRoom(planned)
                ? 'its price and its room do not make its ceiling'
                : undefined;
    if (why !== undefined)
      throw planRefused({
        ...{ path, code: 'plan_altered', what: 'is not a plan as errand writes it', rows: [] },
        problems: [{ row: number, why }],
      });
    before = number;
    seen.add(key);
    return { number, key, cells: sent, planned };
  });
}

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
