import { defineCommand } from '../../cli/define.ts';
import type { Context } from '../../context.ts';
import { UsageError } from '../../errors.ts';
import { formatMoney } from '../../output/money.ts';
import { shellWord } from '../../shell-word.ts';
import { notApproved } from '../../spending/approval/keep.ts';
import { requestLines, shownApproval, stateAt } from '../../spending/approval/shown.ts';
import { sign } from '../../spending/approval/ssh-keygen.ts';
import { signedBy } from '../../spending/approval/trust.ts';
import { loadPolicy } from '../../spending/policy/load.ts';
import { noPolicy } from '../../spending/policy/none.ts';
import type { Policy } from '../../spending/policy/policy.ts';
import { type ApprovalRequest, signedText } from '../../state/approval-row.ts';
import { addressLinesOf } from './address-lines.ts';
import { idArgument, recordColumns } from './columns.ts';

export const approve = defineCommand({
  name: 'approve',
  summary:
    'Say yes to what was asked for: at a terminal, or with an SSH key where the policy names approvers',
  description:
    'Where the policy names approvers, the approval is a signature by one of their keys, made by ssh-keygen: with an agent or a hardware key too. Without approvers whoever sits at the terminal types the amount: a second look, not a second person, since what owns a terminal can type.',
  arguments: [idArgument],
  options: {
    key: {
      kind: 'text',
      placeholder: 'file',
      completes: 'files',
      description: 'private key to sign with, or the .pub file of one that an agent holds',
    },
    file: {
      kind: 'text',
      placeholder: 'file',
      completes: 'files',
      description: 'the order that it is about, to see its address',
    },
  },
  examples: [
    {
      command: 'errand approval approve $APPROVAL --key ~/.ssh/id_ed25519',
      note: 'with the key of an approver',
    },
    {
      command:
        'errand approval export $APPROVAL | ssh-keygen -Y sign -n errand-approval -f ~/.ssh/id_ed25519 | errand approval import',
      note: 'the same, step by step: each may run on another machine',
    },
  ],
  exitCodes: { 11: 'not approved: no approver signed it, or it was used or has expired' },
  related: ['approval show', 'approval deny', 'help policy'],
  async run(context, { id, key, file }) {
    const approvals = await (await context.journal()).reservations.approvals();
    const before = approvals.get(id);
    const { request } = before;
    const now = context.clock.now();
    const state = stateAt(before, approvals.usesOf(request.id), now);
    if (state === 'used') throw notApproved(`approval ${request.id} was used already, and holds once`);
    if (state === 'expired')
      throw notApproved(`approval ${request.id} expired at ${request.expires_at}; the command asks anew`);
    const policy = await loadPolicy(context);
    if (!policy) throw new UsageError(`nothing needs an approval: ${noPolicy(context)}`);
    const address = await addressLinesOf(context, request, file);
    for (const line of requestLines(request, address)) context.note(line);
    const approved =
      policy.approvers.length > 0
        ? await approvals.approve(request, ...(await withKey(context, policy, request, key)))
        : await approvals.approve(request, await atTerminal(context, policy, request, key), undefined);
    return {
      kind: 'record',
      record: shownApproval(approvals, approved, context.clock.now()),
      columns: recordColumns,
      hints: ['run the command that asked for it again'],
    };
  },
});

/** @returns who signed, and the signature. */
async function withKey(
  context: Context,
  policy: Policy,
  request: ApprovalRequest,
  key: string | undefined,
): Promise<[by: string, signature: string]> {
  if (key === undefined)
    throw new UsageError(`${policy.file} names approvers, so that an approval is a signature: give --key`, {
      next: [
        {
          command: `errand approval approve ${request.id} --key ~/.ssh/id_ed25519`,
          when: 'with the key of an approver',
        },
        {
          command: `errand approval export ${request.id} | ssh-keygen -Y sign -n errand-approval -f ~/.ssh/id_ed25519 | errand approval import`,
          when: 'where the key is on another machine',
        },
      ],
    });
  const signature = await sign(context, key, signedText(request));
  const signed = await signedBy(context, policy, request, signature);
  if ('problem' in signed) throw notApproved(`approval ${request.id} is not approved: ${signed.problem}`);
  return [signed.by, signature];
}

async function atTerminal(
  context: Context,
  { file }: Policy,
  request: ApprovalRequest,
  key: string | undefined,
): Promise<string> {
  if (key !== undefined)
    throw new UsageError(`--key signs for a policy that names approvers, and ${file} names none`);
  if (!context.interactive.yes)
    throw notApproved(`an approval without approvers takes a terminal, and ${context.interactive.why}`, {
      hint: `With \`approvers: [ada.pub]\` in ${shellWord(file)} it is a signature, which needs none.`,
    });
  context.note('Without approvers in the policy this is a second look, not a second person.');
  const amount = formatMoney(request.total_cents);
  const prompt = await context.prompt();
  const typed = await prompt.askText(context, `Type ${amount} to approve it`);
  if (typed !== amount) throw notApproved(`nothing was approved: ${amount} was not typed`);
  return `the terminal of ${(await context.origin())().actor}`;
}
