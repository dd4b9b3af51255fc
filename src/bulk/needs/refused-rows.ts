import { countText } from '../../format/counts.ts';
import { relativeTime } from '../../format/time.ts';
import type { Attempt } from '../../journal/attempts.ts';
import { journalCommand } from '../../journal/journal-command.ts';
import { journalExists } from '../../journal/journal-tables.ts';
import { differencesText } from '../../orders/compare.ts';
import { needDifferences } from '../../orders/needs/decide-with-service.ts';
import { ageText } from '../../orders/needs/refused.ts';
import { sentAt } from '../../orders/needs/scope.ts';
import { seeOrder } from '../../orders/needs/service-orders.ts';
import { type OrderRecord, stateOfOrder } from '../../orders/order-record.ts';
import { batchIntent } from '../../orders/place-batch.ts';
import type { Body } from '../../orders/submit/intent.ts';
import { ErrandError, type NextStep, stopOf } from '../../platform/errors.ts';
import { safeText } from '../../platform/redact/safe-text.ts';
import { shellLine, typedCommand, withoutOption } from '../../platform/shell.ts';
import type { Context } from '../../run/context.ts';
import { whereFlags } from '../../run/context-flags.ts';
import type { ProposedOrder } from '../../spending/policy/gate.ts';
import {
  hasPolicy,
  obstacleDetails,
  obstacleHint,
  type PolicyObstacle,
  policyObstacle,
} from '../../spending/policy-gate.ts';
import { rowsText } from '../check/row-sample.ts';
import type { UploadRow } from '../rows.ts';
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
 * Formats `30 new, of them 30 failed before; 1,970 placed already`; undefined if every row is new and no row was tried
 * before. Pure.
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

/** Maximum numbers of rows and of earlier uploads that a message names, and of rows in the message's details. */
const [maxRows, maxUploads, maxDetails] = [3, 3, 10];

/**
 * Builds the error for rows that earlier orders block, with commands to continue. @param file is the name of the file.
 * @returns ErrandError conflict.
 */
export async function blockedRows(
  context: Context,
  decided: DecidedRows,
  file: string,
): Promise<ErrandError> {
  const { counts } = decided;
  const reasons = [...decided.refused].filter(([why]) => !listedOnly.has(why));
  const isUnclear = reasons.some(([why]) => why === 'in_doubt' || why === 'unknown');
  const named = reasons.flatMap(([, { first }]) => first.slice(0, maxDetails));
  const shown = await shownNow(context, decided, named);
  const repeated = decided.repeats?.first ?? [];
  const again = [
    ...[...decided.refused].flatMap(([why, { first }]) => (listedOnly.has(why) ? [] : first)),
    ...repeated,
  ];
  const policy = await policyObstacle(context, await proposedAgain(context, again, file));
  const alike = reasons.some(([why]) => why === 'alike') ? alikeHint : undefined;
  const texts = reasons.map(([why, rows]) => reasonText(decided, why, rows, shown));
  return new ErrandError('conflict', `${file}: ${texts.join('; ')}; nothing was sent`, {
    code: `rows_${reasons[0]?.[0] ?? 'alike'}`,
    outcome: isUnclear ? 'unknown' : 'not_sent',
    retryable: false,
    details: {
      new: counts.new,
      placed: counts.placed,
      ...(policy && obstacleDetails(policy)),
      ...Object.fromEntries(reasons.map(([why, { count }]) => [why, count])),
      rows: reasons.flatMap(([why, { first }]) =>
        (why === 'repeats' ? repeated : first)
          .slice(0, maxDetails)
          .map((one) => shownFinding(decided, why, { attempts: [], ...one }, shown)),
      ),
    },
    hint: policy && !isUnclear ? obstacleHint(policy) : alike,
    next: waysOn(context, decided, policy),
  });
}

/** Rows that were ordered before, as proposed orders for the policy to decide about. */
async function proposedAgain(
  context: Context,
  rows: readonly Pick<RowFinding, 'row' | 'cells'>[],
  filename: string,
): Promise<readonly ProposedOrder[]> {
  if (rows.length === 0) return [];
  const batch = { key: '', filename, rows: rows.map(({ cells }) => cells) };
  return [{ intent: await batchIntent(context, batch), numbers: rows.map(({ row }) => row) }];
}

/**
 * Whether the policy refuses to order rows again, whatever flag is given. False if the rows are unknown on this
 * machine.
 */
export async function isRefusedAgain(
  context: Context,
  rows: () => Promise<{ readonly rows: readonly UploadRow[] }>,
  filename: string,
): Promise<boolean> {
  if (!(await hasPolicy(context))) return false;
  try {
    const again = (await rows()).rows.map((cells, at) => ({ row: at + 1, cells }));
    return (
      (await policyObstacle(context, await proposedAgain(context, again, filename)))?.outcome === 'refused'
    );
  } catch (error) {
    if (!(error instanceof ErrandError) || stopOf(error)) throw error;
    return false;
  }
}

const alikeHint =
  'Rows are alike if their products and recipient are: a new column, note, quantity or ceiling makes no new order.';

/** Error for a request with rows that were ordered before. @returns ErrandError conflict. */
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

/** What a message shows: the current orders by lowercase id, when each attempt was made, and the current time. */
interface Shown {
  readonly orders: ReadonlyMap<string, OrderRecord>;
  readonly madeAt: (attempt: Attempt) => number;
  readonly now: number;
}

async function shownNow(
  context: Context,
  decided: DecidedRows,
  findings: readonly RowFinding[],
): Promise<Shown> {
  const orders = await ordersNow(context, decided, findings);
  const journal = journalExists(context.settings) ? await context.journal() : undefined;
  const madeAt = (attempt: Attempt): number => (journal ? sentAt(journal, context, attempt) : attempt.madeAt);
  return { orders, madeAt, now: context.serviceClock.now() };
}

/**
 * Reads the orders that block rows. Skips an order that cannot be read, because the orders only add detail to a
 * message.
 */
async function ordersNow(
  context: Context,
  { isAssumed }: DecidedRows,
  findings: readonly RowFinding[],
): Promise<Shown['orders']> {
  const ids = findings.flatMap(({ attempts }) => attempts[0]?.orderId?.toLowerCase() ?? []);
  if (isAssumed || ids.length === 0) return new Map();
  const client = await context.client();
  const orders = await Promise.all(
    [...new Set(ids)].map(async (id) => {
      try {
        return [id, (await seeOrder(client, id))?.order] as const;
      } catch (error) {
        if (!(error instanceof ErrandError) || stopOf(error)) throw error;
        return [id, undefined] as const;
      }
    }),
  );
  return new Map(orders.flatMap(([id, order]) => (order ? [[id, order] as const] : [])));
}

const orderIn = ({ orders }: Shown, { orderId }: Pick<Attempt, 'orderId'>): OrderRecord | undefined =>
  orderId === undefined ? undefined : orders.get(orderId.toLowerCase());

function reasonText(decided: DecidedRows, why: RowRefusal, rows: RefusedRows, shown: Shown): string {
  const count = rowsText(rows.count);
  const are = rows.count === 1 ? 'is' : 'are';
  const [first] = rows.first;
  const which = earlierText(decided, rows, shown);
  switch (why) {
    case 'repeats':
      return `it repeats ${decided.repeats?.upload} of ${relativeTime(new Date(decided.repeats?.madeAt ?? 0).toISOString(), shown.now)}: ${countText(decided.repeats?.rows ?? 0)} of ${rowsText(decided.counts.rows)} ${are} placed already`;
    case 'overlaps':
      return `${count} ${rows.count === 1 ? 'shares' : 'share'} products with what was ordered for the same recipient: ${which}`;
    case 'other_namespace':
      return `${count} ${are} ordered already under the same reference in another namespace: ${which}`;
    case 'cancelled':
      return `the orders of ${count} were cancelled: ${which}`;
    case 'returned':
      return `the orders of ${count} were sent back: ${which}`;
    case 'in_doubt':
      return `${count} may be ordered already, which is in doubt${first ? `: ${earlierRow(decided, first, shown)}` : ''}`;
    case 'unknown':
      return `nobody knows what became of earlier orders of ${count}: ${which}`;
    default:
      return `${count} ${are} like ${rows.count === 1 ? 'an earlier order' : 'earlier orders'}: ${which}`;
  }
}

/** Formats `60 of the upload tiny; row 2 as order ID (waiting, 3m ago), …`. */
function earlierText(decided: DecidedRows, { count, first, byBatch }: RefusedRows, shown: Shown): string {
  const byUpload = new Map<string, number>();
  for (const [batch, number] of byBatch) {
    const name = batch === undefined ? 'single orders' : uploadText(decided, batch);
    byUpload.set(name, (byUpload.get(name) ?? 0) + number);
  }
  const uploads = [...byUpload].sort(([, one], [, other]) => other - one);
  const listed = uploads.slice(0, maxUploads).map(([name, number]) => `${countText(number)} of ${name}`);
  const rows = first.slice(0, maxRows).map((one) => earlierRow(decided, one, shown));
  const more = count > rows.length ? ', …' : '';
  const of =
    uploads.length === 1 && count === 1
      ? ''
      : `${listed.join(', ')}${uploads.length > maxUploads ? ', …' : ''}; `;
  return `${of}${rows.join(', ')}${more}`;
}

const uploadText = (decided: DecidedRows, batch: string): string => {
  const name = decided.uploadOf(batch);
  return name === batch ? 'an earlier upload' : `the upload ${name}`;
};

/** Formats `row 2 as order ID (waiting, 3m ago)`. */
function earlierRow(decided: DecidedRows, { row, attempts }: RowFinding, shown: Shown): string {
  const [one] = attempts;
  if (!one) return `row ${row}`;
  const what =
    one.orderId === undefined
      ? one.upload === undefined
        ? one.key
        : `a row of ${uploadText(decided, one.upload)}`
      : `order ${one.orderId}`;
  return `row ${row} as ${what} (${stateText(one, orderIn(shown, one))}, ${ageText({ madeAt: shown.madeAt(one) }, shown.now)})`;
}

/**
 * Describes the state of an order for a message. A placed attempt without an order id was only accepted so far. A
 * placed attempt whose order was not read counts as ordered.
 */
function stateText({ state, orderId }: Attempt, order: OrderRecord | undefined): string {
  if (state === 'placed')
    return order
      ? safeText(stateOfOrder(order).text, maxState)
      : orderId === undefined
        ? 'accepted'
        : 'ordered';
  return state === 'intended' ? 'in doubt' : state;
}

const maxState = 60;

const shownFinding = (
  decided: DecidedRows,
  why: RowRefusal,
  { row, attempts }: RowFinding,
  shown: Shown,
) => ({
  row,
  why,
  earlier: attempts.map((one) => ({
    order_id: one.orderId ?? null,
    upload: one.upload === undefined ? null : decided.uploadOf(one.upload),
    state: one.state,
    status: orderIn(shown, one)?.status ?? null,
    made_at: new Date(shown.madeAt(one)).toISOString(),
  })),
});

function waysOn(
  context: Context,
  decided: DecidedRows,
  policy: PolicyObstacle | undefined,
): readonly NextStep[] {
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
  const isRefused = policy?.outcome === 'refused';
  const rules = policy ? [{ command: `errand policy show${where}`, when: 'to see every rule' }] : [];
  if (verb === 'api')
    return isRefused
      ? [...settle, ...rules]
      : [...settle, { command: `${line} --new`, when: 'to order all of it once more' }];
  const alike = ['alike', 'overlaps', 'other_namespace', 'repeats'] as const;
  const ended = ['cancelled', 'returned', 'unknown'] as const;
  const isAgain = !isRefused && has(...ended) && !context.argv.includes('--again');
  const look = has('unknown') ? [{ command: `errand order list${where}`, when: 'to look for them' }] : [];
  const [absent, again] = ['to order what is not there', 'to order again what was cancelled or returned'];
  const what = !has('unknown')
    ? again
    : has('cancelled', 'returned')
      ? `${absent}, and again what was cancelled or returned`
      : absent;
  if (verb === 'bulk' && noun === 'retry')
    return [
      ...settle,
      ...look,
      ...(isAgain && !has(...alike) ? [{ command: `${line} --again`, when: what }] : []),
    ];
  if (verb !== 'bulk' || (noun !== 'upload' && noun !== 'plan')) return settle;
  const order = noun === 'plan' ? 'plan' : 'order';
  // With both flags, the new rows and the rows that `ended` names are ordered. Rows that are like live orders are left
  // out.
  const others = counts.new + ended.reduce((sum, why) => sum + (refused.get(why)?.count ?? 0), 0);
  return [
    ...settle,
    ...look,
    ...(counts.new > 0 && !has('in_doubt')
      ? [
          {
            command: `${line} --skip-duplicates`,
            when: `to ${order} the other ${countText(counts.new)}`,
          },
        ]
      : []),
    ...(!isAgain || has('in_doubt')
      ? []
      : has(...alike)
        ? [
            {
              command: `${line} --again --skip-duplicates`,
              when: `to ${order} the other ${countText(others)}, with what was cancelled or returned`,
            },
          ]
        : [{ command: `${line} --again`, when: what }]),
    ...(!isRefused && has(...alike)
      ? [
          {
            command: inAnotherRun(context),
            when: 'to order all of it once more, for another occasion: each NAME is ordered once',
          },
        ]
      : []),
    ...(doubt?.orderId === undefined
      ? []
      : [{ command: shellLine`errand order get ${doubt.orderId}` + where, when: 'to see it' }]),
    ...rules,
  ];
}

const inAnotherRun = ({ argv }: Context): string =>
  `${typedCommand(withoutOption(argv, '--run'))} --run NAME`;

/**
 * Tells how to order a file once more. Empty unless the whole file was ordered before and the policy allows ordering it
 * again.
 */
export async function anotherOccasion(
  context: Context,
  { counts, placed }: DecidedRows,
  file: string,
): Promise<string[]> {
  if (counts.placed === 0 || counts.placed < counts.rows) return [];
  const policy = await policyObstacle(context, await proposedAgain(context, placed, file));
  return policy?.outcome === 'refused' ? [] : [`for another occasion: ${inAnotherRun(context)}`];
}

/**
 * Lists rows whose reference or key has a live order that differs, with the differences as far as the orders can be
 * read. These rows are not sent, but the other rows are.
 */
export async function differsLines(context: Context, decided: DecidedRows): Promise<string[]> {
  const lines: string[] = [];
  for (const [why, { count, first }] of decided.refused) {
    if (why !== 'differs' && why !== 'two_live') continue;
    const listed = first.slice(0, maxListed);
    const shown = await shownNow(context, decided, listed);
    const reason =
      why === 'differs' ? 'the order of its reference or key differs' : 'its reference has two live orders';
    lines.push(`${rowsText(count)} not sent: ${reason}`);
    for (const one of listed) {
      const found = why === 'differs' ? differencesOf(one, shown) : '';
      lines.push(`  ${earlierRow(decided, one, shown)}${found === '' ? '' : `: ${found}`}`);
    }
    if (count > maxListed) lines.push(`  and ${countText(count - maxListed)} more`);
    if (why === 'differs')
      lines.push(
        '  such an order stands; once it is cancelled, or all of it returned, --again orders the row as it is now',
      );
  }
  return lines;
}

function differencesOf({ cells, attempts }: RowFinding, shown: Shown): string {
  const [attempt] = attempts;
  const order = attempt && orderIn(shown, attempt);
  // The cast is safe: the row was parsed from validated cells, so it is a complete order.
  const body = orderOfCells(cells) as unknown as Body;
  return order ? differencesText(needDifferences(body, order)) : '';
}

const maxListed = 10;
