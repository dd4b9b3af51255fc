import { countText } from '../../format/counts.ts';
import { relativeTime } from '../../format/time.ts';
import { journalCommand } from '../../journal/journal-command.ts';
import { differencesText } from '../../orders/compare.ts';
import { needDifferences } from '../../orders/needs/decide-with-service.ts';
import { seeOrder } from '../../orders/needs/service-orders.ts';
import type { Body } from '../../orders/submit/intent.ts';
import { ErrandError, type NextStep } from '../../platform/errors.ts';
import { shellLine, typedCommand } from '../../platform/shell.ts';
import type { Context } from '../../run/context.ts';
import { whereFlags } from '../../run/context-flags.ts';
import { rowsText } from '../check/row-sample.ts';
import { orderOfCells } from '../upload/uploaded-rows.ts';
import {
  type DecidedRows,
  listedOnly,
  type RefusedRows,
  type RowCounts,
  type RowFinding,
  type RowRefusal,
} from './decide-rows.ts';

/**
 * Formats `30 new, of them 30 failed before; 1,970 placed already`; undefined if no row has anything to do with an
 * earlier order. Pure.
 */
export function countsLine({ rows, failedBefore, again, ...counts }: RowCounts): string | undefined {
  if (counts.new === rows && failedBefore + again === 0) return undefined;
  const before = [
    ...(failedBefore > 0 ? [`${countText(failedBefore)} failed before`] : []),
    ...(again > 0 ? [`${countText(again)} cancelled or returned before`] : []),
  ];
  const parts = [
    `${countText(counts.new)} new${before.length > 0 ? `, of them ${before.join(', ')}` : ''}`,
    ...(counts.inDoubt > 0 ? [`${countText(counts.inDoubt)} in doubt, sent again unchanged`] : []),
    ...(counts.placed > 0 ? [`${countText(counts.placed)} placed already`] : []),
    ...(counts.tried > 0 ? [`${countText(counts.tried)} sent before, not tried again now`] : []),
    ...(counts.skipped > 0 ? [`${countText(counts.skipped)} left out`] : []),
    ...(counts.refused > 0 ? [`${countText(counts.refused)} not sent`] : []),
  ];
  return parts.join('; ');
}

/** Maximum number of rows and of earlier uploads that are named in a message, and of rows in its details. */
const [maxRows, maxUploads, maxDetails] = [3, 3, 10];

/**
 * Builds the error that explains which rows are held against earlier orders, with the ways on. @param file name of the
 * file. @returns ErrandError conflict.
 */
export function blockedRows(context: Context, decided: DecidedRows, file: string): ErrandError {
  const { counts } = decided;
  const now = context.serviceClock.now();
  const reasons = [...decided.refused].filter(([why]) => !listedOnly.has(why));
  const isUnclear = reasons.some(([why]) => why === 'in_doubt' || why === 'unknown');
  const texts = reasons.map(([why, rows]) => reasonText(decided, why, rows, now));
  return new ErrandError('conflict', `${file}: ${texts.join('; ')}; nothing was sent`, {
    code: `rows_${reasons[0]?.[0] ?? 'alike'}`,
    outcome: isUnclear ? 'unknown' : 'not_sent',
    retryable: false,
    details: {
      new: counts.new,
      placed: counts.placed,
      ...Object.fromEntries(reasons.map(([why, { count }]) => [why, count])),
      rows: reasons.flatMap(([why, { first }]) =>
        first.slice(0, maxDetails).map((one) => shownFinding(decided, why, one)),
      ),
    },
    next: waysOn(context, decided),
  });
}

/** The error for a request whose rows were ordered before. @returns ErrandError conflict. */
export async function placedRows(
  context: Context,
  { counts, placedIn }: DecidedRows,
  file: string,
): Promise<ErrandError> {
  const journal = await context.journal();
  const [batch] = [...placedIn].flatMap(
    (key) => journal.find(key, context.settings.baseUrl.value)?.order_id ?? [],
  );
  return new ErrandError('conflict', `${file}: ${countsLine(counts)}; nothing was sent`, {
    code: 'rows_placed',
    outcome: 'applied',
    retryable: false,
    details: { new: counts.new, placed: counts.placed, ...(batch !== undefined && { batch_id: batch }) },
    next: [{ command: `${typedCommand(context.argv)} --new`, when: 'to order all of it once more' }],
  });
}

function reasonText(decided: DecidedRows, why: RowRefusal, rows: RefusedRows, now: number): string {
  const count = rowsText(rows.count);
  const are = rows.count === 1 ? 'is' : 'are';
  const [first] = rows.first;
  const which = earlierText(decided, rows, now);
  switch (why) {
    case 'repeats':
      return `it repeats ${decided.repeats?.upload} of ${ageText(decided.repeats?.madeAt ?? 0, now)}: ${countText(decided.repeats?.rows ?? 0)} of ${rowsText(decided.counts.rows)} ${are} placed already`;
    case 'overlaps':
      return `${count} ${rows.count === 1 ? 'shares' : 'share'} products with what was ordered for the same recipient: ${which}`;
    case 'other_namespace':
      return `${count} ${are} ordered already under the same reference in another namespace: ${which}`;
    case 'cancelled':
      return `the orders of ${count} were cancelled: ${which}`;
    case 'returned':
      return `the orders of ${count} were sent back: ${which}`;
    case 'in_doubt':
      return `${count} may be ordered already, which is in doubt${first ? `: ${earlierRow(decided, first, now)}` : ''}`;
    case 'unknown':
      return `nobody knows what became of earlier orders of ${count}: ${which}`;
    default:
      return `${count} ${are} like what was ordered before: ${which}`;
  }
}

/** Formats `60 of tiny; row 2 as order ID (placed, 3m ago), …`. */
function earlierText(decided: DecidedRows, { count, first, byBatch }: RefusedRows, now: number): string {
  const byUpload = new Map<string, number>();
  for (const [batch, number] of byBatch) {
    const name = batch === undefined ? 'single orders' : nameOf(decided, batch);
    byUpload.set(name, (byUpload.get(name) ?? 0) + number);
  }
  const uploads = [...byUpload].sort(([, one], [, other]) => other - one);
  const listed = uploads.slice(0, maxUploads).map(([name, number]) => `${countText(number)} of ${name}`);
  const rows = first.slice(0, maxRows).map((one) => earlierRow(decided, one, now));
  const more = count > rows.length ? ', …' : '';
  const of =
    uploads.length === 1 && count === 1
      ? ''
      : `${listed.join(', ')}${uploads.length > maxUploads ? ', …' : ''}; `;
  return `${of}${rows.join(', ')}${more}`;
}

const nameOf = (decided: DecidedRows, batch: string): string => {
  const name = decided.uploadOf(batch);
  return name === batch ? 'an earlier upload' : name;
};

/** Formats `row 2 as order ID (placed, 3m ago)`. */
function earlierRow(decided: DecidedRows, { row, attempts }: RowFinding, now: number): string {
  const [one] = attempts;
  if (!one) return `row ${row}`;
  const what =
    one.orderId === undefined
      ? one.upload === undefined
        ? one.key
        : `a row of ${nameOf(decided, one.upload)}`
      : `order ${one.orderId}`;
  return `row ${row} as ${what} (${one.state}, ${ageText(one.madeAt, now)})`;
}

const ageText = (at: number, now: number): string => relativeTime(new Date(at).toISOString(), now);

const shownFinding = (decided: DecidedRows, why: RowRefusal, { row, attempts }: RowFinding) => ({
  row,
  why,
  earlier: attempts.map(({ orderId, state, madeAt, upload }) => ({
    order_id: orderId ?? null,
    upload: upload === undefined ? null : decided.uploadOf(upload),
    state,
    made_at: new Date(madeAt).toISOString(),
  })),
});

function waysOn(context: Context, decided: DecidedRows): readonly NextStep[] {
  const { counts, refused } = decided;
  const has = (...whys: readonly RowRefusal[]): boolean => whys.some((why) => refused.has(why));
  const where = whereFlags(context);
  const [first] = refused.get('in_doubt')?.first ?? [];
  const [doubt] = first?.attempts ?? [];
  const settle = doubt
    ? [{ command: journalCommand('resume', doubt.upload ?? doubt.key, where), when: 'to find out, safely' }]
    : [];
  const [verb, noun] = context.argv;
  const line = typedCommand(context.argv);
  if (verb === 'api') return [...settle, { command: `${line} --new`, when: 'to order all of it once more' }];
  const isAgain = has('cancelled', 'returned', 'unknown') && !context.argv.includes('--again');
  if (verb === 'bulk' && noun === 'retry' && isAgain)
    return [...settle, { command: `${line} --again`, when: 'to order again what was cancelled or returned' }];
  if (verb !== 'bulk' || (noun !== 'upload' && noun !== 'plan')) return settle;
  const others = countText(counts.new);
  const isAlike = has('alike', 'overlaps', 'other_namespace', 'repeats');
  return [
    ...settle,
    ...(counts.new > 0 && !has('in_doubt')
      ? [
          {
            command: `${line} --skip-duplicates`,
            when: `to ${noun === 'plan' ? 'plan' : 'order'} the other ${others}`,
          },
        ]
      : []),
    ...(has('cancelled', 'returned', 'unknown')
      ? [{ command: `${line} --again`, when: 'to order again what was cancelled or returned' }]
      : []),
    ...(isAlike
      ? [
          {
            command: `${typedCommand(withoutRun(context.argv))} --run NAME`,
            when: 'to order all of it once more, as another occasion',
          },
        ]
      : []),
    ...(doubt?.orderId === undefined
      ? []
      : [{ command: shellLine`errand order get ${doubt.orderId}` + where, when: 'to see it' }]),
  ];
}

const withoutRun = (argv: readonly string[]): readonly string[] =>
  argv.filter((word, at) => !word.startsWith('--run=') && word !== '--run' && argv[at - 1] !== '--run');

/**
 * Lists rows whose live order differs, with the differences as far as the orders can be read. They are not sent, while
 * the others are.
 */
export async function differsLines(context: Context, decided: DecidedRows): Promise<string[]> {
  const lines: string[] = [];
  const now = context.serviceClock.now();
  for (const [why, { count, first }] of decided.refused) {
    if (why !== 'differs' && why !== 'two_live') continue;
    const reason =
      why === 'differs' ? 'the order of its reference or key differs' : 'its reference has two live orders';
    lines.push(`${rowsText(count)} not sent: ${reason}`);
    for (const one of first.slice(0, maxListed)) {
      const found = why === 'differs' ? await differencesOf(context, one) : '';
      lines.push(`  ${earlierRow(decided, one, now)}${found === '' ? '' : `: ${found}`}`);
    }
    if (count > maxListed) lines.push(`  and ${countText(count - maxListed)} more`);
  }
  return lines;
}

async function differencesOf(context: Context, { cells, attempts }: RowFinding): Promise<string> {
  const [{ orderId } = { orderId: undefined }] = attempts;
  if (orderId === undefined || context.previewsReads) return '';
  const found = await seeOrder(await context.client(), orderId);
  // The row was parsed from validated cells, so it is a complete order.
  const body = orderOfCells(cells) as unknown as Body;
  return found ? differencesText(needDifferences(body, found.order)) : '';
}

const maxListed = 10;
