import { resolve } from 'node:path';
import { shardOf, shardText } from '../../bulk/check/check.ts';
import { fingerprintOf } from '../../bulk/check/file-check.ts';
import { rowsText } from '../../bulk/check/row-sample.ts';
import { spendLine } from '../../bulk/check/spend.ts';
import { checkHolds } from '../../bulk/plan/make.ts';
import { chosenRows, restLine } from '../../bulk/plan/parts.ts';
import { checkRest, notePrices, type ReadPlan, readPlan, recheckPrices } from '../../bulk/plan/read.ts';
import { approvable } from '../../bulk/plan/summary.ts';
import {
  countOf,
  earlierBatches,
  journaled,
  proposedByPlan,
  toSend,
  type Work,
  workOf,
} from '../../bulk/plan/work.ts';
import { type NamedUpload, uploadName } from '../../bulk/upload/begin.ts';
import { checkTotal } from '../../bulk/upload/prepare.ts';
import type { LeftOut } from '../../bulk/upload/source.ts';
import { existedBefore, sendBatches, type Uploaded } from '../../bulk/upload/upload.ts';
import { countText } from '../../format/counts.ts';
import type { ResultOf } from '../../format/output-forms.ts';
import { confirmSpending } from '../../orders/spending-lines.ts';
import { readyToSend } from '../../orders/submit/submit.ts';
import type { Context } from '../../run/context.ts';
import { whereFlags } from '../../run/context-flags.ts';
import { type Consent, consentOf } from '../../spending/options.ts';
import { notePolicy, policyLines } from '../../spending/policy-gate.ts';
import { nothingIn, type sentOutput, sentResult } from './place-file.ts';

/** Options and consent for applying a plan. */
interface Given extends Omit<Consent, 'plan'> {
  readonly only?: readonly string[] | undefined;
  readonly rows?: readonly string[] | undefined;
  readonly shard?: string | undefined;
  readonly recheckPrices?: boolean | undefined;
  readonly yes?: boolean | undefined;
  readonly maxTotal?: number | undefined;
  readonly watch?: boolean | undefined;
}

/** Places the remaining orders of a plan and reports the results. @throws ErrandError. */
export async function applyPlan(
  context: Context,
  path: string,
  given: Given,
): Promise<ResultOf<typeof sentOutput>> {
  const { recheckPrices: rechecks = false, yes = false, watch = false, ...more } = given;
  const shard = shardOf(given.shard);
  const read = await readPlan(path, whereFlags(context));
  const selected = chosenRows(read, { ...more, shard });
  if (shard && selected.length === 0) return nothingIn(shardText(shard), path);
  await readyToSend(context);
  const { plan } = read;
  const { profile } = context.settings;
  const keys = new Set(read.rows.map(({ key }) => key));
  const earlier = await earlierBatches(context, await journaled(context), keys);
  const parts = {
    ...{ all: read.rows, selected, earlier, batchSize: plan.batch_size },
    ...{ headings: plan.headings, fileHeadings: plan.file_headings },
  };
  const work = workOf(context, parts);
  await checkHolds(context, read, work);
  if (plan.profile !== profile.value)
    context.note(`${path} was planned with the profile ${plan.profile}; this one has the same account`);
  await checkAndConfirm(context, { read, selected, work }, { rechecks, yes, maxTotal: given.maxTotal });
  const name = plan.file.name;
  const notifies = plan.notify_on_complete;
  const sent = await sendBatches(context, {
    name,
    rows: countOf(work.inDoubt.map(({ batch }) => batch)) + countOf(work.rest),
    proposed: context.previewsRequests
      ? []
      : await proposedByPlan(context, work, { name, notifies, rows: read.rows }),
    of: await uploadOf(context, read),
    batches: toSend(work, notifies),
    ...consentOf(given),
    plan: approvable(plan),
  });
  const batches = [...(await doneBefore(context, work)), ...sent.batches];
  const facts = [...existedBefore(batches), ...restLine(read, selected, work, shard)];
  return sentResult(context, { name: sent.name, batches }, { facts, watch });
}

interface Applying {
  readonly read: ReadPlan;
  readonly selected: ReadPlan['rows'];
  readonly work: Work;
}

/**
 * Checks what may have changed since the plan was made, then asks for confirmation. Does nothing if no rows are left.
 */
async function checkAndConfirm(
  context: Context,
  { read, selected, work }: Applying,
  {
    rechecks,
    yes,
    maxTotal,
  }: { readonly rechecks: boolean; readonly yes: boolean; readonly maxTotal: number | undefined },
): Promise<void> {
  const count = countOf(work.rest);
  if (count === 0) return;
  const left = new Set(work.rest.flatMap(({ numbers }) => numbers));
  const rows = selected.filter(({ number }) => left.has(number));
  const { file, notify_on_complete: notifies } = read.plan;
  const proposed = () => proposedByPlan(context, work, { name: file.name, notifies, rows: read.rows });
  if (context.previewsRequests) return notePolicy(context, await proposed());
  if (rechecks) await recheckPrices(context, read, rows);
  else notePrices(context, read, rows);
  const spend = await checkRest(context, read, work);
  checkTotal(spend.estimate, maxTotal);
  const lines = [
    `  ${read.path}: ${rowsText(count)}${count === read.rows.length ? '' : ` of ${read.rows.length}`}`,
    `  ${spendLine(spend)}`,
  ];
  await confirmSpending(context, {
    yes,
    question: `Place ${count === 1 ? 'this order' : `these ${countText(count)} orders`} with real money?`,
    lines: async () => [...lines, ...(await policyLines(context, await proposed()))],
  });
  if (context.isRehearsal()) for (const line of lines) context.note(line.trim());
}

/** Identifies the upload by its row keys, so a plan and its file count as one upload. */
async function uploadOf(context: Context, { path, plan, rows }: ReadPlan): Promise<NamedUpload> {
  const file = plan.file.name;
  const fingerprint = fingerprintOf(rows.map(({ key }) => key));
  const { name } = await uploadName(context, { given: undefined, file, identity: fingerprint });
  const leftOut: LeftOut = { count: plan.file.left_out, first: [] };
  return {
    name,
    upload: { identity: fingerprint, file, rows: rows.length, source: { plan: resolve(path), leftOut } },
  };
}

/** Batches placed by an earlier upload. Marks them as shown, because the user sees them now. */
async function doneBefore(context: Context, { done }: Work): Promise<Uploaded[]> {
  if (done.length === 0) return [];
  const journal = await context.journal();
  return done.map(({ record, keys }) => {
    journal.recall(record);
    return { id: record.order_id ?? '', rows: keys.length, existed: true };
  });
}
