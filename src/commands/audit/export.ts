import { defineCommand } from '../../cli/define.ts';
import { canonicalJson } from '../../format/canonical.ts';
import type { AuditChain } from '../../journal/audit.ts';
import { recordOfRow } from '../../journal/audit-record.ts';
import { UsageError } from '../../platform/errors.ts';

export const exportChain = defineCommand({
  name: 'export',
  summary: 'The whole chain as NDJSON, to be verified on another machine',
  description:
    'One record a line, each byte as the hashes cover it: `audit verify --file` accepts no other form. What a shell of Windows makes of it with `>` (UTF-16, CRLF) is read all the same.',
  examples: [
    { command: 'errand audit export > audit.ndjson', note: 'then, anywhere: errand audit verify --file' },
    { command: 'errand audit export | errand audit verify --file -', note: 'what was exported is whole' },
  ],
  output: { events: 'AuditRecord' },
  readsOnly: true,
  related: ['audit verify', 'audit log'],
  async run(context) {
    const { format, fields, query } = context.output;
    if (fields || query || (format !== 'table' && format !== 'ndjson'))
      throw new UsageError(
        'the export is NDJSON, whole; for other formats and fields use `errand audit log`',
      );
    const { audit } = await context.journal();
    return { kind: 'stream', chunks: lines(audit) };
  },
});

function* lines(audit: AuditChain): Generator<string> {
  for (const row of audit.rows()) yield `${canonicalJson(recordOfRow(row))}\n`;
}
