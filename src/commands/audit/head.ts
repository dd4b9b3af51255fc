import { defineCommand } from '../../cli/define.ts';
import { firstPrevious } from '../../journal/audit-record.ts';

export const head = defineCommand({
  name: 'head',
  summary: 'Number and hash of the newest record',
  description:
    'Keep the hash where nobody who can write to this machine can change it: a ticket, a mail, another machine. `audit verify --head HASH` later proves that nothing up to that record was rewritten or cut off.',
  examples: [
    { command: 'errand audit head', note: 'to be written down' },
    { command: 'errand audit head -o id > head.txt', note: 'the hash alone, to be kept elsewhere' },
  ],
  output: { record: 'AuditHead' },
  readsOnly: true,
  related: ['audit verify', 'audit export'],
  async run(context) {
    const journal = await context.journal();
    const { number, hash } = journal.audit.head() ?? { number: 0, hash: firstPrevious };
    const verify = { command: `errand audit verify --head ${hash}`, when: 'later, where the hash was kept' };
    return {
      kind: 'record',
      record: { number, hash, next: number === 0 ? [] : [verify] },
      columns: [
        { name: 'number', path: 'number', kind: 'count' },
        { name: 'hash', path: 'hash' },
      ],
      id: 'hash',
    };
  },
});
