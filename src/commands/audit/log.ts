import type { Output } from '../../api/outputs/index.ts';
import type { Unchecked } from '../../api/received.ts';
import { defineCommand } from '../../cli/define.ts';
import type { Column } from '../../format/result.ts';
import { auditKinds } from '../../journal/audit-entry.ts';
import { recordOfRow } from '../../journal/audit-record.ts';
import { spanOptions } from '../../run/span.ts';

export const log = defineCommand({
  name: 'log',
  aliases: ['list', 'ls'],
  summary: 'What happened to money on this machine, in order',
  description:
    'Every step is one record: who, by which command, for which order, how much. Addresses stand as hashes that only this machine can compare; names, emails and secrets given as such are never included. Your own idempotency keys appear as you chose them, since orders are tracked by them; override reasons appear as typed, minus keys, emails and phone numbers. Records are shown as stored; `audit verify` checks whether they were changed.',
  options: {
    kind: { kind: 'list', values: Object.keys(auditKinds), description: 'only these kinds' },
    key: { kind: 'text', completes: 'intents', description: 'only this idempotency key, or its beginning' },
    order: {
      kind: 'text',
      names: ['orders', 'batches', 'returns'],
      description: 'only this order, batch or return',
    },
    ...spanOptions,
    last: { kind: 'integer', min: 1, max: 100_000, description: 'only the newest of them' },
  },
  examples: [
    { command: 'errand audit log --last 20', note: 'the newest' },
    { command: 'errand audit log --order $ORDER -o json', note: 'the steps of one order' },
    { command: 'errand audit log --kind refused,in_doubt --since 2026-01-01 -o csv', note: 'for a report' },
  ],
  output: { list: 'AuditRecord' },
  readsOnly: true,
  related: ['audit verify', 'order journal list'],
  async run(context, { kind, key, order, since, until, last }) {
    const { audit } = await context.journal();
    const matches = (record: LogRow): boolean =>
      (kind === undefined || kind.includes(String(record.kind))) &&
      (key === undefined || String(record.key ?? '').startsWith(key)) &&
      (order === undefined || String(record.order_id).toLowerCase() === order.toLowerCase()) &&
      (since === undefined || Date.parse(String(record.time)) >= Date.parse(since)) &&
      (until === undefined || Date.parse(String(record.time)) < Date.parse(until));
    const found = matching();
    return {
      kind: 'list',
      rows: last === undefined ? found : latest(found, last),
      columns,
      id: 'number',
      empty: 'no record',
    };

    function* matching(): Generator<LogRow> {
      for (const row of audit.rows()) {
        // The table is STRICT, so its columns hold their declared types.
        const record = recordOfRow(row) as LogRow;
        if (matches(record)) yield record;
      }
    }
  },
});

type LogRow = Output<'AuditRecord'>;

/** Returns the last `limit` rows, and holds no more than these in memory. */
function latest(rows: Iterable<LogRow>, limit: number): LogRow[] {
  let recent: LogRow[] = [];
  for (const row of rows) {
    recent.push(row);
    if (recent.length >= 2 * limit) recent = recent.slice(-limit);
  }
  return recent.slice(-limit);
}

/** One word that tells how a record's action ended. If there is none, the reason given in the record. */
function outcomeOf({ detail }: Unchecked<LogRow>): unknown {
  const { code, outcome, status, change, reason } = Object(detail);
  return code ?? outcome ?? status ?? change ?? reason;
}

/** Describes the parts of a record that no other column shows. Omits hashes and internal counts. */
function detailOf({ detail }: Unchecked<LogRow>): unknown {
  if (typeof detail !== 'object' || detail === null) return detail;
  const words = Object.entries(detail).flatMap(([name, value]) => {
    if (reportedElsewhere.includes(name) || typeof value === 'object' || value === false) return [];
    if (value === true) return [name];
    return [name === 'operation' ? String(value) : `${name} ${value}`];
  });
  return words.length === 0 ? undefined : words.join(', ');
}

const reportedElsewhere = [
  'code',
  'outcome',
  'status',
  'change',
  'reason',
  'content',
  'address',
  'account',
  'recorded',
];

const columns: readonly Column<LogRow>[] = [
  { name: 'number', path: 'number', kind: 'count', weight: 9 },
  { name: 'time', path: 'time', kind: 'time', isLocal: true, weight: 8 },
  { name: 'kind', path: 'kind', kind: 'status', weight: 10 },
  { name: 'amount', path: 'amount_cents', kind: 'money', currency: 'currency', weight: 7 },
  { name: 'outcome', path: 'detail.outcome', value: outcomeOf, weight: 5 },
  { name: 'detail', path: 'detail', value: detailOf, weight: 3 },
  { name: 'made', path: 'order_id', kind: 'id', weight: 6 },
  { name: 'key', path: 'key', weight: 3 },
  { name: 'who', path: 'actor', weight: 4 },
  { name: 'job', path: 'job', weight: 1 },
  { name: 'command', path: 'command', weight: 2 },
  { name: 'profile', path: 'profile', weight: 1 },
  { name: 'service', path: 'service', weight: 0 },
  { name: 'hash', path: 'hash', weight: 0 },
];
