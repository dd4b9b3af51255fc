import { defineCommand } from '../../cli/define.ts';
import { policyToShow, shownApproval } from '../../spending/approval/shown.ts';
import { addressLinesOf } from './address-lines.ts';
import { idArgument, recordColumns } from './columns.ts';

export const show = defineCommand({
  name: 'show',
  aliases: ['get'],
  summary: 'One approval: what for, how much, who asked, who decided',
  description:
    'The address is kept as a hash. With --file, the order in the file is compared with what was asked for, and its address is shown.',
  arguments: [idArgument],
  options: {
    file: {
      kind: 'text',
      placeholder: 'file',
      completes: 'files',
      description: 'the order that it is about, as JSON or YAML',
    },
  },
  examples: [{ command: 'errand approval show $APPROVAL', note: 'before you decide' }],
  output: { record: 'Approval' },
  exitCodes: { 11: 'the order in the file is not the one that was asked for' },
  readsOnly: true,
  related: ['approval approve', 'approval deny'],
  async run(context, { id, file }) {
    const approvals = await (await context.journal()).reservations.approvals();
    const approval = approvals.get(id);
    const address = await addressLinesOf(context, approval.request, file);
    return {
      kind: 'record',
      record: await shownApproval(context, approvals, approval, await policyToShow(context)),
      columns: recordColumns,
      hints: address,
    };
  },
});
