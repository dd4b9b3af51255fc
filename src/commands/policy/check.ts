import { FileCheck } from '../../bulk/check/file-check.ts';
import { leftOutText } from '../../bulk/check/spend.ts';
import { readOptions } from '../../bulk/csv/reading.ts';
import { type TableFlags, tableOptions } from '../../bulk/csv/table-options.ts';
import { defaultBatchRows } from '../../bulk/upload/batches.ts';
import { openSource } from '../../bulk/upload/source.ts';
import { proposedByBatches } from '../../bulk/upload/upload.ts';
import { defineCommand } from '../../cli/define.ts';
import type { Column } from '../../format/result.ts';
import { assembleOrder, orderInputOptions } from '../../orders/input/assemble.ts';
import { proposedOrder } from '../../orders/submit/submit.ts';
import { exitCodes, type NextStep } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import type { ProposedOrder } from '../../spending/policy/gate.ts';
import { noPolicy } from '../../spending/policy/none.ts';
import type { Verdict } from '../../spending/policy/policy.ts';
import { approvalLine } from '../../spending/policy/refusal.ts';
import { gateFor } from '../../spending/policy-gate.ts';

const findingColumns: readonly Column[] = [
  { name: 'row', path: 'row', kind: 'count', weight: 7 },
  { name: 'rule', path: 'rule', weight: 9 },
  { name: 'applies to', path: 'applies_to', weight: 4 },
  { name: 'verdict', path: 'outcome', kind: 'status', weight: 10 },
  { name: 'why', path: 'message', weight: 8, isProse: true },
];

const columns: readonly Column[] = [
  { name: 'verdict', path: 'outcome', kind: 'status', weight: 10 },
  { name: 'orders', path: 'orders', kind: 'count', weight: 6 },
  { name: 'ceilings and fees', path: 'amount_cents', kind: 'money', weight: 7 },
  { name: 'policy', path: 'policy', weight: 2 },
  { name: 'rules', path: 'rules', columns: findingColumns },
  { name: 'not allowed', path: 'rows', columns: findingColumns },
];

export const check = defineCommand({
  name: 'check',
  summary: 'What the policy says of an order, or of every row of a CSV; reserves and orders nothing',
  description:
    'Takes an order as `order create` does. With --file and a name that ends in .csv, the rows of an upload, as `bulk upload` reads them. On a new machine it first mints the sandbox key and saves the example address, as every embedded sandbox command does.',
  options: { ...orderInputOptions, ...tableOptions },
  positional: 'product',
  examples: [
    {
      command: "errand policy check --product $URL --max-price '$50.00' --ship-to home",
      note: 'an order, before it is placed',
    },
    { command: 'errand policy check --file order.json -o json --query outcome', note: 'for a script' },
    { command: 'errand policy check --file orders.csv', note: 'every row, and the upload as a whole' },
  ],
  needsKey: true,
  output: { record: 'PolicyVerdict' },
  exitCodes: { 11: 'refused, or an approval is needed; or the policy cannot be used' },
  readsOnly: true,
  related: ['policy usage', 'order create', 'bulk upload'],
  async run(context, input) {
    const isTable = /\.(?:csv|tsv|xlsx)$/i.test(input.file ?? '');
    await context.ready();
    const { proposed, leftOut } = isTable
      ? await ofFile(context, input.file ?? '', input)
      : { proposed: [await ofOrder(context, input)], leftOut: undefined };
    const gate = await gateFor(context, proposed);
    const verdict = gate ? await gate.settledPreview() : allowedUnseen(proposed);
    return {
      kind: 'record',
      record: { ...verdict, next: nextOf(verdict) },
      columns,
      id: 'outcome',
      hints: [
        ...(leftOut === undefined ? [] : [leftOut]),
        ...(verdict.outcome === 'needs_approval' ? [approvalLine(verdict.approval)] : []),
        ...(gate ? [] : [await whyNone(context)]),
      ],
      exitCode: verdict.outcome === 'refused' || verdict.outcome === 'needs_approval' ? exitCodes.policy : 0,
    };
  },
});

async function ofOrder(context: Context, input: Parameters<typeof assembleOrder>[1]): Promise<ProposedOrder> {
  const { payload } = await assembleOrder(context, input);
  const { checkOrder } = await import('../../orders/input/check.ts');
  return proposedOrder(context, await checkOrder(payload, input.file));
}

/** The valid rows of a file. */
async function ofFile(
  context: Context,
  path: string,
  flags: TableFlags,
): Promise<{ readonly proposed: readonly ProposedOrder[]; readonly leftOut: string | undefined }> {
  const source = await openSource(context, path, flags);
  try {
    const options = await readOptions(context, source, flags);
    const file = new FileCheck(context, source, options, { local: true });
    for await (const _ of file.issues());
    const upload = { name: source.name, notifies: false };
    const proposed = await proposedByBatches(context, file.batches(defaultBatchRows), upload);
    return { proposed, leftOut: leftOutText(file.tally) };
  } finally {
    await source.close();
  }
}

/** Suggests the next step for a verdict that requires approval. */
const nextOf = ({ outcome, approval }: Pick<Verdict, 'outcome' | 'approval'>): NextStep[] =>
  outcome === 'needs_approval' && approval
    ? [{ command: `errand approval show ${approval.id}`, when: 'to see the approval that it waits for' }]
    : [];

/** Without a policy, everything is allowed. */
const allowedUnseen = (
  proposed: readonly ProposedOrder[],
): Omit<Verdict, 'policy'> & { readonly policy: null } => ({
  outcome: 'allowed',
  policy: null,
  orders: proposed.length,
  amount_cents: 0,
  rules: [],
  rows: [],
});

async function whyNone(context: Context): Promise<string> {
  const { loadPolicy } = await import('../../spending/policy/load.ts');
  const policy = await loadPolicy(context);
  return policy ? `${policy.file} exempts rehearsals` : noPolicy(context);
}
