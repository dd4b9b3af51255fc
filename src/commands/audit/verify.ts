import { defineCommand } from '../../cli/define.ts';
import { readFileLines } from '../../cli/read-lines.ts';
import type { Column } from '../../format/result.ts';
import { ChainCheck, type Finding } from '../../journal/audit-check.ts';
import { lostRecordText } from '../../journal/lost-intents.ts';
import { exitCodes, StorageError, UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { examinePublished, isFirstSight } from '../../spending/policy/published.ts';
import { alteredReservations, wrongSums } from '../../spending/verified-reservations.ts';

export const verify = defineCommand({
  name: 'verify',
  summary: 'Prove that no record was changed, removed or reordered',
  description:
    'Walks the chain: each record holds a hash over itself and the record before it. The chain is tamper-evident, not tamper-proof: whoever can write to this machine can rebuild all of it, or cut off its end, and only a hash that was kept elsewhere (`audit head`) shows that. --head proves that the record with that hash, and all before it, are unchanged. The journal counts its intents, so verify also detects a chain that has lost some; an export has no such count. The intents of the API key in use are signed under it, and so are the chain up to them and, where machines share a database, how they ended: what somebody without that key wrote is named. The running sums of limits are compared with a recount. Where machines share a database, the reservations of limits are compared with the chain, and the published policy is verified too: its signature, its signer, and that it is the last that was published.',
  options: {
    head: {
      kind: 'text',
      placeholder: 'hash',
      description: 'a hash of `audit head` that was kept elsewhere; its record must be in the chain',
    },
    file: {
      kind: 'text',
      placeholder: 'file|-',
      completes: 'files',
      description: 'what `audit export` wrote, in place of the chain of this machine',
    },
  },
  examples: [
    { command: 'errand audit verify', note: 'the chain of this machine' },
    {
      command: 'errand audit verify --head $(errand audit head -o id)',
      note: 'up to a record that is known',
    },
    {
      command: 'errand audit export | errand audit verify --file - -o json',
      note: 'an export, for a script',
    },
  ],
  output: { record: 'AuditCheck' },
  readsOnly: true,
  exitCodes: {
    2: 'the file holds no record, or cannot be read: it proves nothing',
    7: 'a record was changed, is missing or stands elsewhere, is not signed, --head is not in the chain, the record of what is in doubt or a reservation is gone or was changed, a running sum of a limit is not what a recount gives, or the published policy is not what its publisher signed last',
  },
  related: ['audit head', 'audit export', 'audit log'],
  async run(context, { head, file }) {
    if (head !== undefined && !/^[0-9a-f]{64}$/.test(head))
      throw new UsageError(
        '--head takes a hash as `errand audit head -o id` prints it: 64 hexadecimal digits',
      );
    const database = file === undefined ? (await context.journal()).audit.databaseId : undefined;
    const check = new ChainCheck(head, await context.sender(), database);
    if (file === undefined) await walk(context, check);
    else await walkFile(context, check, file);
    const beside =
      file === undefined
        ? [
            ...(await lostFindings(context)),
            ...(await reservationFindings(context)),
            ...(await policyFindings(context)),
          ]
        : [];
    const findings = [...check.findings, ...beside];
    for (const { message } of findings.slice(0, maxReported)) context.note(message);
    if (findings.length > maxReported) context.note(`… and ${findings.length - maxReported} more`);
    return {
      kind: 'record',
      record: {
        intact: findings.length === 0,
        records: check.count,
        head: check.head,
        findings,
      },
      columns,
      id: 'head.hash',
      exitCode: findings.length === 0 ? 0 : exitCodes.ended_badly,
    };
  },
});

/** Maximum number of findings that are printed in addition to the record. */
const maxReported = 5;

/**
 * Verifies the chain in the journal. First reads how many records the journal has, because other processes may add
 * records meanwhile.
 */
async function walk(context: Context, check: ChainCheck): Promise<void> {
  const journal = await context.journal();
  // If the chain is shared, verify the database itself instead of the local cache.
  await journal.refresh('anew');
  const recorded = journal.recorded();
  try {
    for (const { record, isExact, expected } of journal.audit.checkedRecords())
      check.take(record, isExact, expected);
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    check.breakOff(error.message);
  }
  check.end(recorded);
}

/** Finds requests in doubt whose records are gone. */
async function lostFindings(context: Context): Promise<Finding[]> {
  return (await context.journal())
    .lost()
    .map((record) => ({ number: null, finding: 'lost', message: lostRecordText(record) }));
}

async function reservationFindings(context: Context): Promise<Finding[]> {
  const altered = [...(await alteredReservations(context)), ...(await wrongSums(context))];
  return altered.map((message) => ({ number: null, finding: 'reservation', message }));
}

/** Finds problems with the published policy. A publisher that this machine does not know yet is not a problem. */
async function policyFindings(context: Context): Promise<Finding[]> {
  const { problem } = await examinePublished(context);
  if (!problem || isFirstSight(problem)) return [];
  return [{ number: null, finding: 'policy', message: problem.message }];
}

async function walkFile(context: Context, check: ChainCheck, file: string): Promise<void> {
  for await (const line of readFileLines(context, '--file', file)) check.takeLine(line);
  if (check.count === 0)
    throw new UsageError(
      `--file: ${file === '-' ? 'stdin' : file} holds no record, so it proves nothing: the export failed, or was made where nothing has happened yet`,
    );
  check.end();
}

const columns: readonly Column[] = [
  { name: 'intact', path: 'intact', kind: 'flag' },
  { name: 'records', path: 'records', kind: 'count' },
  { name: 'newest', path: 'head.number', kind: 'count' },
  { name: 'hash', path: 'head.hash' },
  {
    name: 'findings',
    path: 'findings',
    columns: [
      { name: 'number', path: 'number', kind: 'count' },
      { name: 'finding', path: 'finding', kind: 'status' },
      { name: 'message', path: 'message', isProse: true },
    ],
  },
];
