import { defineCommand } from '../../cli/define.ts';
import { signedText } from '../../journal/approval-row.ts';
import { approvalText, notApproved } from '../../spending/approval/carried.ts';
import { idArgument } from './columns.ts';

export const exportApproval = defineCommand({
  name: 'export',
  summary: 'Print the text to sign or, once signed, an approval file for another machine',
  description:
    'For an open request: the exact text to sign, one line of JSON. For a signed approval: the request and its signature, to pass with --approval on the machine that places the order.',
  arguments: [idArgument],
  examples: [
    {
      command:
        'errand approval export $APPROVAL | ssh-keygen -Y sign -n errand-approval -f ~/.ssh/id_ed25519 | errand approval import',
      note: 'approve it with ssh-keygen itself',
    },
    {
      command: 'errand approval export $APPROVAL > approval.json',
      note: 'once it is approved: for a CI job',
    },
  ],
  output: [
    { record: 'ApprovalRequest', when: 'to sign, while it is open' },
    { record: 'SignedApproval', when: 'once it is approved' },
  ],
  exitCodes: {
    11: 'it was denied or used already, or was approved at a terminal, which holds on this machine alone',
  },
  readsOnly: true,
  related: ['approval import', 'approval approve'],
  async run(context, { id }) {
    const approvals = await (await context.journal()).reservations.approvals();
    const approval = approvals.get(id);
    const { request, state, signature, decidedBy } = approval;
    if (state === 'open') return { kind: 'stream', chunks: [signedText(request)] };
    if (state === 'denied') throw notApproved(`approval ${request.id} was denied by ${decidedBy}`);
    if (signature === undefined)
      throw notApproved(`approval ${request.id} was given at ${decidedBy}; it holds on this machine alone`);
    const [use] = request.subject === 'plan' ? [] : approvals.usesOf(request.id);
    if (use)
      throw notApproved(
        `approval ${request.id} was already used for ${use.orderId ?? use.key}, and works only once`,
      );
    return { kind: 'stream', chunks: [approvalText(approval)] };
  },
});
