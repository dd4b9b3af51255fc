import { defineCommand } from '../../cli/define.ts';
import { policyToShow, type ShownState, shownApproval } from '../../spending/approval/shown.ts';
import { journalExists } from '../../state/journal-tables.ts';
import { approvalColumns } from './columns.ts';

/** What can still be decided on, or used. */
const listed: readonly ShownState[] = ['open', 'approved', 'untrusted'];

export const list = defineCommand({
  name: 'list',
  aliases: ['ls'],
  summary: 'What waits for an approval, and what is approved and not used yet',
  options: {
    all: { kind: 'flag', description: 'also what was used, was denied or has expired; kept for 400 days' },
  },
  examples: [
    { command: 'errand approval list', note: 'what there is to decide on' },
    { command: 'errand approval list --all -o json', note: 'everything that was asked for on this machine' },
  ],
  readsOnly: true,
  related: ['approval show', 'approval approve', 'help policy'],
  async run(context, { all = false }) {
    const rows = await shownHere();
    return {
      kind: 'list',
      rows: rows.filter(({ state }) => all || listed.includes(state)),
      columns: approvalColumns,
      empty: 'nothing waits for an approval',
    };

    async function shownHere() {
      if (!journalExists(context.settings.folders.state)) return [];
      const approvals = await (await context.journal()).reservations.approvals();
      const policy = await policyToShow(context);
      return approvals.list().map((one) => shownApproval(approvals, one, context.clock.now(), policy));
    }
  },
});
