import { approvable } from '../../bulk/plan/approvable.ts';
import { earlierBatches, journaled } from '../../bulk/plan/earlier.ts';
import { checkHolds } from '../../bulk/plan/holds.ts';
import { chosenRows, restLine } from '../../bulk/plan/parts.ts';
import { type ReadPlan, readPlan } from '../../bulk/plan/read.ts';
import { checkRest, notePrices, recheckPrices } from '../../bulk/plan/recheck.ts';
import { countOf, meantByPlan, toSend, type Work, workOf } from '../../bulk/plan/work.ts';
import { rowsText, spendLine } from '../../bulk/spend.ts';
import { existedBefore, sendBatches, type Uploaded } from '../../bulk/upload-file.ts';
import { defineCommand } from '../../cli/define.ts';
import type { Context } from '../../context.ts';
import { confirmSpending } from '../../orders/confirm-spending.ts';
import { countText } from '../../output/count-text.ts';
import { consentOf, policyExit, policyOptions } from '../../spending/options.ts';
import { notePolicy, policyLines } from '../../spending/through-policy.ts';
import { whereFlags } from '../../where-flags.ts';
import { followLine, uploadedResult } from './uploaded.ts';
import { followResult } from './watch.ts';

export const apply = defineCommand({
  name: 'apply',
  summary: 'Place the orders of a plan, exactly as it was planned',
  description:
    'Works like `bulk upload`: same orders, keys, journal and policy. Refuses a plan that was altered, is a day old, was made for another service or account, or that the wallet or the policy no longer allows. Apply it again after a crash or by mistake: it places nothing twice and continues with the rest. If a price has changed since, the ceiling still protects you, and --recheck-prices checks it again.',
  arguments: [{ name: 'plan', completes: 'files', description: 'a plan of `bulk plan`', required: true }],
  options: {
    only: {
      kind: 'list',
      placeholder: 'retailer',
      completes: 'retailers',
      description: 'place the rows of these retailers alone, by name or host; the rest can be applied later',
    },
    rows: {
      kind: 'list',
      placeholder: '2-201',
      description: 'place these rows alone, by the numbers of the file: 2,5-9; the rest can be applied later',
    },
    recheckPrices: {
      kind: 'flag',
      description: 'refuse where a price is unknown now, or higher than it was planned',
    },
    yes: { kind: 'flag', description: 'spend with a live key without confirmation' },
    ...policyOptions,
    watch: { kind: 'flag', description: 'follow the batches to their end' },
  },
  examples: [
    {
      command: 'errand bulk apply december.plan --rows 11',
      note: 'one row first, by its number in the file',
    },
    { command: 'errand bulk apply december.plan --watch', note: 'then the rest, followed to the end' },
  ],
  operations: ['bulk.create', 'bulk.validate'],
  exitCodes: {
    7: 'with --watch: a row failed',
    10: 'in doubt: a batch was sent and no response came; the same command again finds out',
    11: `the plan was altered, has expired, is for another account, or wallet or policy have moved against it; ${policyExit}`,
  },
  related: ['bulk plan', 'bulk show', 'bulk watch', 'bulk results'],
  async run(
    context,
    { plan: path, only, rows, recheckPrices: rechecks = false, yes = false, watch = false, ...consent },
  ) {
    const read = await readPlan(path, whereFlags(context));
    const selected = chosenRows(read, { only, rows });
    const { plan } = read;
    const { profile } = context.settings;
    const keys = new Set(read.rows.map(({ key }) => key));
    const earlier = await earlierBatches(context, await journaled(context), keys);
    const parts = { all: read.rows, selected, earlier, headings: plan.headings, batchSize: plan.batch_size };
    const work = workOf(context, parts);
    await checkHolds(context, read, work);
    if (plan.profile !== profile.value)
      context.note(`${path} was planned with the profile ${plan.profile}; this one has the same account`);
    await checkAndConfirm(context, { read, selected, work }, { rechecks, yes });
    const name = plan.file.name;
    const notifies = plan.notify_on_complete;
    const uploaded = await sendBatches(context, {
      name,
      rows: countOf(work.inDoubt.map(({ batch }) => batch)) + countOf(work.rest),
      meant: context.previewsRequests
        ? []
        : await meantByPlan(context, work, { name, notifies, rows: read.rows }),
      batches: toSend(work, notifies),
      ...consentOf(consent),
      plan: approvable(plan),
    });
    const all = [...(await doneBefore(context, work)), ...uploaded];
    const facts = [...existedBefore(all), ...restLine(read, selected, work)];
    if (!watch) return uploadedResult(context, all, facts);
    context.note(followLine(context, all));
    const result = await followResult(
      context,
      all.map(({ id }) => id),
    );
    return { ...result, hints: () => [...facts, ...(result.hints?.() ?? [])] };
  },
});

interface Applying {
  readonly read: ReadPlan;
  readonly selected: ReadPlan['rows'];
  readonly work: Work;
}

/** What may have moved against the plan since, and whoever sits at the terminal. Nothing where nothing is left. */
async function checkAndConfirm(
  context: Context,
  { read, selected, work }: Applying,
  { rechecks, yes }: { readonly rechecks: boolean; readonly yes: boolean },
): Promise<void> {
  const count = countOf(work.rest);
  if (count === 0) return;
  const left = new Set(work.rest.flatMap(({ numbers }) => numbers));
  const rows = selected.filter(({ number }) => left.has(number));
  const { file, notify_on_complete: notifies } = read.plan;
  const meant = () => meantByPlan(context, work, { name: file.name, notifies, rows: read.rows });
  if (context.previewsRequests) return notePolicy(context, await meant());
  if (rechecks) await recheckPrices(context, read, rows);
  else notePrices(context, read, rows);
  const lines = [
    `  ${read.path}: ${rowsText(count)}${count === read.rows.length ? '' : ` of ${read.rows.length}`}`,
    `  ${spendLine(await checkRest(context, read, work))}`,
  ];
  await confirmSpending(context, {
    yes,
    question: `Place ${count === 1 ? 'this order' : `these ${countText(count)} orders`} with real money?`,
    lines: async () => [...lines, ...(await policyLines(context, await meant()))],
  });
  if (context.isRehearsal()) for (const line of lines) context.note(line.trim());
}

/** What an earlier upload has made; the user is shown it now, whether or not they were then. */
async function doneBefore(context: Context, { done }: Work): Promise<Uploaded[]> {
  if (done.length === 0) return [];
  const journal = await context.journal();
  return done.map(({ record, keys }) => {
    journal.recall(record);
    return { id: record.order_id ?? '', rows: keys.length, existed: true };
  });
}
