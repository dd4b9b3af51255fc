import { defineCommand } from '../../cli/define.ts';
import { notApproved } from '../../spending/approval/carried.ts';
import { policyToShow, shownApproval, stateAt } from '../../spending/approval/shown.ts';
import { idArgument, recordColumns } from './columns.ts';

export const deny = defineCommand({
  name: 'deny',
  summary: 'Deny a request; the same order is not requested again until the request expires',
  description: 'Also takes back an approval that was not used yet.',
  arguments: [idArgument],
  examples: [{ command: 'errand approval deny $APPROVAL', note: 'the command that asked is refused' }],
  output: { record: 'Approval' },
  exitCodes: { 11: 'it was used already, or has expired' },
  related: ['approval show', 'approval approve'],
  async run(context, { id }) {
    const approvals = await (await context.journal()).reservations.approvals();
    const before = approvals.get(id);
    const { request } = before;
    const policy = await policyToShow(context);
    const state = await stateAt(context, approvals, before, policy);
    if (state === 'expired')
      throw notApproved(`approval ${request.id} has expired; there is nothing left to deny`);
    if (state === 'used')
      throw notApproved(`approval ${request.id} was used already`, {
        hint: 'What it let through is ordered: `errand order cancel` may still stop it.',
      });
    const denied = await approvals.deny(request, (await context.origin())().actor);
    const record = await shownApproval(context, approvals, denied, policy);
    return { kind: 'record', record, columns: recordColumns };
  },
});
