import { shardOf, shardText } from '../../bulk/check/check.ts';
import { rowsText } from '../../bulk/check/row-sample.ts';
import { previewSpend, spendLine } from '../../bulk/check/spend.ts';
import {
  type Applying,
  decideApplied,
  leaveOutChanged,
  numbersSent,
  unsentRows,
  uploadOf,
} from '../../bulk/plan/apply.ts';
import { checkSelected, numbersIn } from '../../bulk/plan/decided.ts';
import { chosenRows, restLine } from '../../bulk/plan/parts.ts';
import { checkCovered, checkRest, notePrices, readPlan, recheckPrices } from '../../bulk/plan/read.ts';
import { checkHolds } from '../../bulk/plan/staleness.ts';
import { approvable } from '../../bulk/plan/summary.ts';
import { checkTotal, placeQuestion } from '../../bulk/upload/prepare.ts';
import { existedBefore, proposedByUpload, type Upload, uploadFile } from '../../bulk/upload/upload.ts';
import { countText } from '../../format/counts.ts';
import type { ResultOf } from '../../format/output-forms.ts';
import { confirmSpending } from '../../orders/spending-lines.ts';
import { readyToSend } from '../../orders/submit/submit.ts';
import { exitCodes } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { whereFlags } from '../../run/context-flags.ts';
import { previewedWith } from '../../run/request-preview.ts';
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
  const { watch = false, ...more } = given;
  const shard = shardOf(given.shard);
  const read = await readPlan(path, whereFlags(context));
  const selected = chosenRows(read, { ...more, shard });
  if (shard && selected.length === 0) return nothingIn(shardText(shard), path);
  await readyToSend(context);
  const { plan } = read;
  const work = await decideApplied(context, read, selected);
  checkSelected(context, work, read.rows);
  await checkHolds(context, read, work);
  if (plan.profile !== context.settings.profile.value)
    context.note(`${path} was planned with the profile ${plan.profile}; this one has the same account`);
  const unsent = unsentRows(work);
  const changes = await leaveOutChanged(context, work);
  const upload: Upload = {
    ...{ name: plan.file.name, batchSize: plan.batch_size, notifies: plan.notify_on_complete },
    ...{ decided: work.decided, namedUpload: await uploadOf(context, work) },
    ...consentOf(given),
    plan: approvable(plan),
  };
  const refused = await checkAndConfirm(context, work, { ...given, upload, changes });
  const exitCode = unsent.length > 0 ? exitCodes.conflict : undefined;
  const sent = await previewedWith(refused ?? exitCode, () => uploadFile(context, upload));
  const done = await numbersSent(context, upload.namedUpload.name);
  const facts = [...existedBefore(sent), ...restLine(read, selected, done, shard)];
  return sentResult(context, sent, { facts, watch, exitCode });
}

/**
 * Checks what may have changed since the plan was made. Then asks for confirmation, unless no row is left to send.
 * @returns the exit code with which sending would fail. It is used by a preview.
 */
async function checkAndConfirm(
  context: Context,
  work: Applying,
  {
    recheckPrices: rechecks = false,
    yes = false,
    maxTotal,
    upload,
    changes,
  }: Pick<Given, 'recheckPrices' | 'yes' | 'maxTotal'> & {
    readonly upload: Upload;
    readonly changes: readonly string[];
  },
): Promise<number | undefined> {
  const { read, rest, decided } = work;
  for (const line of changes) context.note(line);
  const left = new Set(numbersIn(rest));
  if (left.size === 0) return undefined;
  if (context.previewsRequests) {
    const { counts, cents } = decided;
    const { spend, exitCode } = await previewSpend(context, { rows: counts.new, cents: cents.new });
    checkCovered(read, rest, spend);
    checkTotal(spend.estimate, maxTotal);
    const policy = await notePolicy(context, await proposedByUpload(context, upload), upload);
    return decided.unseen?.exitCode ?? exitCode ?? policy;
  }
  const rows = read.rows.filter(({ number }) => left.has(number));
  if (rechecks) await recheckPrices(context, read, rows);
  else notePrices(context, read, rows);
  const spend = await checkRest(context, read, work);
  checkTotal(spend.estimate, maxTotal);
  const { orders } = read.plan;
  const lines = [
    `  ${read.path}: ${rowsText(left.size)}${left.size === orders ? '' : ` of ${countText(orders)}`}`,
    `  ${spendLine(spend)}`,
  ];
  await confirmSpending(context, {
    yes,
    question: placeQuestion(left.size),
    lines: async () => [...lines, ...(await policyLines(context, await proposedByUpload(context, upload)))],
  });
  if (context.isRehearsal()) for (const line of lines) context.note(line.trim());
  return undefined;
}
