import { defineCommand } from '../../cli/define.ts';
import { journalExists } from '../../journal/journal-tables.ts';
import { isWithin, spanOptions } from '../../run/span.ts';
import { policyToShow, type ShownState, shownApproval } from '../../spending/approval/shown.ts';
import { approvalColumns } from './columns.ts';

/** States of requests that can still be decided or used. */
const activeStates: readonly ShownState[] = ['open', 'approved', 'untrusted'];

export const list = defineCommand({
  name: 'list',
  aliases: ['ls'],
  summary: 'List open requests and unused approvals',
  options: {
    ...spanOptions,
    all: { kind: 'flag', description: 'include used, denied and expired ones; kept for 400 days' },
  },
  examples: [
    { command: 'errand approval list', note: 'what there is to decide on' },
    { command: 'errand approval list --all -o json', note: 'everything that was asked for on this machine' },
  ],
  output: { list: 'Approval' },
  readsOnly: true,
  related: ['approval show', 'approval approve', 'help policy'],
  async run(context, { all = false, since, until }) {
    const rows = await shownHere();
    return {
      kind: 'list',
      rows: rows.filter(
        ({ state, asked_at }) =>
          (all || activeStates.includes(state)) && isWithin(asked_at, { since, until }),
      ),
      columns: approvalColumns,
      empty: 'nothing waits for an approval',
    };

    async function shownHere() {
      if (!journalExists(context.settings)) return [];
      const approvals = await (await context.journal()).reservations.approvals();
      for (const line of approvals.problems()) context.note(`warning: ${line}`);
      const policy = await policyToShow(context);
      return Promise.all(approvals.list().map((one) => shownApproval(context, approvals, one, policy)));
    }
  },
});
