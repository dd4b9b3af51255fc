import { defineCommand } from '../../cli/define.ts';
import { formatMoney } from '../../format/money.ts';
import { type Approval, type ApprovalRequest, signedText } from '../../journal/approval-row.ts';
import { UsageError } from '../../platform/errors.ts';
import { shellWord } from '../../platform/shell.ts';
import type { Context } from '../../run/context.ts';
import { notApproved } from '../../spending/approval/carried.ts';
import { requestLines, type ShownState, shownApproval, stateAt } from '../../spending/approval/shown.ts';
import { forApprovals, sign, signedBy } from '../../spending/approval/ssh.ts';
import { isAmount, signingKey } from '../../spending/options.ts';
import { loadPolicy } from '../../spending/policy/load.ts';
import { noPolicy } from '../../spending/policy/none.ts';
import type { Policy } from '../../spending/policy/policy.ts';
import { addressLinesOf } from './address-lines.ts';
import { idArgument, recordColumns } from './columns.ts';

export const approve = defineCommand({
  name: 'approve',
  summary: 'Approve a request, at a terminal or with an SSH key if the policy names approvers',
  description:
    'If the policy names approvers, one of them signs with ssh-keygen; agents and hardware keys work too. Without approvers, anyone at the terminal types the amount: that is a second look, not a second person, since a program can type too.',
  arguments: [idArgument],
  options: {
    key: signingKey,
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
  output: { record: 'Approval' },
  exitCodes: { 11: 'not approved: no approver signed it, or it was used or has expired' },
  related: ['approval show', 'approval deny', 'help policy'],
  async run(context, { id, key, file }) {
    const approvals = await (await context.journal()).reservations.approvals();
    const before = approvals.get(id);
    const { request } = before;
    const policy = await loadPolicy(context);
    const state = await stateAt(context, approvals, before, policy);
    if (state === 'used') throw notApproved(`approval ${request.id} was already used, and works only once`);
    if (state === 'expired')
      throw notApproved(
        `approval ${request.id} has expired; the command that asked for it asks again when it is run again`,
      );
    if (!policy) throw new UsageError(`nothing needs an approval: ${noPolicy(context)}`);
    const address = await addressLinesOf(context, request, file);
    for (const line of requestLines(request, address)) context.note(line);
    for (const line of decidedLines(before, state)) context.note(line);
    if (state === 'approved') return shown(before);
    const approved =
      policy.approvers.length > 0
        ? await approvals.approve(request, ...(await withKey(context, policy, request, key)))
        : await approvals.approve(
            request,
            await atTerminal(context, policy, request, key),
            undefined,
            context.settings.database && (await context.sender()).mac,
          );
    return shown(approved);

    async function shown(approval: Approval) {
      return {
        kind: 'record' as const,
        record: await shownApproval(context, approvals, approval, policy),
        columns: recordColumns,
        hints: ['run the command that asked for it again'],
      };
    }
  },
});

/** Describes an earlier decision about the request. */
function decidedLines({ decidedBy, decidedAt }: Approval, state: ShownState): string[] {
  if (state === 'denied')
    return [`  it was denied by ${decidedBy} at ${decidedAt}; approving it takes that back`];
  if (state === 'untrusted')
    return [`  ${decidedBy} approved it at ${decidedAt}, which no longer counts under the policy`];
  return state === 'approved'
    ? [`  ${decidedBy} approved it already, at ${decidedAt}; that stands, and nothing was signed again`]
    : [];
}

/** @returns the signer and the signature. */
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
  const signature = await sign(context, forApprovals, key, signedText(request));
  const signed = await signedBy(context, policy, request, signature);
  if ('problem' in signed)
    throw notApproved(`nothing was approved: approval ${request.id} ${signed.problem}`);
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
    throw notApproved(
      `where the policy names no approvers, approving takes a terminal, and ${context.interactive.why}`,
      {
        hint: `With \`approvers: [ada.pub]\` in ${shellWord(file)} it is a signature, which needs none.`,
      },
    );
  context.note('Without approvers in the policy this is a second look, not a second person.');
  const amount = formatMoney(request.total_cents);
  const prompt = await context.prompt();
  const typed = await prompt.askText(context, `Type ${amount} to approve it`);
  if (!isAmount(typed, request.total_cents))
    throw notApproved(`nothing was approved: ${amount} was not typed`);
  return `the terminal of ${(await context.origin())().actor}`;
}
