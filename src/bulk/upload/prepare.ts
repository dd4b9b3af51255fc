import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { countText } from '../../format/counts.ts';
import { formatMoney } from '../../format/money.ts';
import { confirmSpending } from '../../orders/spending-lines.ts';
import { readyToSend } from '../../orders/submit/submit.ts';
import { ErrandError } from '../../platform/errors.ts';
import { shellWord } from '../../platform/shell.ts';
import type { Context } from '../../run/context.ts';
import { type Consent, consentOf } from '../../spending/options.ts';
import { notePolicy, policyLines } from '../../spending/policy-gate.ts';
import { type Shard, shardText } from '../check/check.ts';
import type { FileCheck, Scope } from '../check/file-check.ts';
import { checkedFile } from '../check/file-check.ts';
import { rowsText } from '../check/row-sample.ts';
import { isShort, leftOutText, shortOf, spendLine } from '../check/spend.ts';
import { readReading } from '../csv/reading.ts';
import { referenceFlags, type TableFlags, tableFlags } from '../csv/table-options.ts';
import { defaultBatchRows } from './batches.ts';
import { uploadName } from './begin.ts';
import type { Source } from './source.ts';
import { serializeSource } from './source.ts';
import { proposedByUpload, type Upload, wasBegun } from './upload.ts';
import { UploadWarnings } from './upload-warnings.ts';

/** User-supplied options of an upload, including consent. */
export interface UploadGiven extends TableFlags, Omit<Consent, 'plan'> {
  readonly name?: string | undefined;
  readonly batchSize?: number | undefined;
  readonly run?: string | undefined;
  readonly skipInvalid?: boolean | undefined;
  readonly notifyOnComplete?: boolean | undefined;
  readonly errors?: string | undefined;
  readonly yes?: boolean | undefined;
  readonly watch?: boolean | undefined;
  readonly maxTotal?: number | undefined;
}

/** Options for any upload other than that of a whole file by a single process. */
interface Special extends Pick<Scope, 'shard' | 'checkRows'> {
  /** Whether several workers send the upload. */
  readonly isShared?: boolean;
}

/** An upload that is ready to be sent. */
export interface PreparedUpload {
  readonly check: FileCheck;
  readonly upload: Upload;
  /** Facts to print once the upload is sent. */
  readonly facts: readonly string[];
  /** Row numbers already reported to the user. */
  readonly reportedRows: ReadonlySet<number>;
}

/**
 * Validates a file, shows its cost and obtains consent to spend. Sends nothing.
 * @returns undefined if no row falls into the shard. @throws ErrandError.
 */
export async function prepareUpload(
  context: Context,
  source: Source,
  given: UploadGiven,
  { shard, checkRows, isShared = false }: Special,
): Promise<PreparedUpload | undefined> {
  const { batchSize = defaultBatchRows, run = '', skipInvalid = false, yes = false } = given;
  const notifies = given.notifyOnComplete ?? false;
  const { options, flags: table } = await readReading(context, source, given);
  const warnings = new UploadWarnings();
  const check = await checkedFile(context, source, options, {
    skipInvalid,
    errors: given.errors,
    ...{ run, warnings, shard, checkRows, spare: source.spare },
    validate: `errand bulk validate ${shellWord(source.path)}${tableFlags(table)}`,
  });
  if (check.isEmptyShard()) return undefined;
  await readyToSend(context);
  checkTotal(check.spend.estimate, given.maxTotal);
  const fingerprint = await check.fingerprint();
  const { name, facts: named } = await uploadName(context, {
    given: given.name,
    file: source.name,
    ...{ identity: fingerprint, shard },
  });
  const leftOut = { count: check.tally.invalid, first: [...check.leftOut].sort((one, other) => one - other) };
  const from = {
    path: source.isPipe ? null : resolve(source.path),
    sha256: await sha256Of(source),
    table: {
      ...{ preset: options.preset?.name, map: options.map, amounts: options.amounts },
      isAsBefore: options.isAsBefore ?? false,
      ...referenceFlags(options.reference),
      ...{ locale: given.locale, encoding: given.encoding, delimiter: given.delimiter },
    },
    ...{ batchSize, run, skipInvalid, notifies, isShared },
    shard: shard && shardText(shard),
  };
  const upload = {
    ...{ name: source.name, batchSize, notifies },
    namedUpload: {
      name,
      upload: {
        identity: fingerprint,
        file: source.name,
        rows: check.tally.orders,
        source: serializeSource(from, leftOut),
      },
    },
    ...consentOf(given),
  };
  if (isShort(check.spend) && !(await wasBegun(context, check, upload))) throw shortOf(context, check.spend);
  const lines = spendLines(source, check, shard);
  const warningLines = await warnings.lines(context, check);
  const rows = check.tally.orders;
  let wereShown = false;
  await confirmSpending(context, {
    yes,
    question: placeQuestion(rows),
    lines: async () => {
      wereShown = true;
      return [
        ...[...lines, ...warningLines].map((line) => `  ${line}`),
        ...(await policyLines(context, await proposedByUpload(context, check, upload))),
      ];
    },
  });
  if (context.previewsRequests) await notePolicy(context, await proposedByUpload(context, check, upload));
  if (context.isRehearsal()) for (const line of lines) context.note(line);
  if (!wereShown) for (const line of warningLines) context.note(line);
  const facts = [...named, ...(check.tally.orders === check.tally.rows ? [] : lines.slice(0, 1))];
  return { check, upload, facts, reportedRows: warnings.reusedKeyRows };
}

export const placeQuestion = (rows: number): string =>
  `Place ${rows === 1 ? 'this order' : `these ${countText(rows)} orders`} with real money?`;

const spendLines = ({ name }: Source, { tally, spend }: FileCheck, shard: Shard | undefined): string[] => [
  `${name}${shard ? `, shard ${shardText(shard)}` : ''}: ${leftOutText(tally) ?? rowsText(tally.orders)}`,
  spendLine(spend),
];

export async function sha256Of(source: Source): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of source.chunks()) hash.update(chunk);
  return hash.digest('hex');
}

/** Options that determine an upload's batches, whether planned or placed directly. */
export const uploadOptions = {
  batchSize: {
    kind: 'integer',
    min: 1,
    max: 5000,
    description: `rows in one request (default ${defaultBatchRows})`,
  },
  run: {
    kind: 'text',
    maxLength: 100,
    description: 'the same rows under another --run are new orders',
  },
  skipInvalid: { kind: 'flag', description: 'upload the valid rows of a file that has others too' },
} as const;

/** Option for a name by which later commands refer to the upload. */
export const nameOption = {
  name: {
    kind: 'text',
    placeholder: 'name',
    maxLength: 100,
    description: 'what the upload is called from now on (default: the name of its file)',
  },
} as const;

/** Options that make a process one of several workers. */
export const workerOptions = {
  share: {
    kind: 'flag',
    description: 'be one of several workers that upload it together, from a queue in the database',
  },
  rate: {
    kind: 'integer',
    min: 1,
    max: 1000,
    placeholder: 'n',
    description: 'with --share: requests a second of all workers together, at most',
  },
} as const;

/** Option with the caller's limit on the total of a command's orders. */
export const maxTotalOption = {
  maxTotal: {
    kind: 'money',
    description: "refuse all of it where the orders may cost more together: '$20,000'",
  },
} as const;

/**
 * @param cents is the most that the orders can cost in total. @param maxTotal is the caller's limit, in cents. @throws
 * ErrandError if the total exceeds the limit.
 */
export function checkTotal(cents: number, maxTotal: number | undefined): void {
  if (maxTotal === undefined || cents <= maxTotal) return;
  throw new ErrandError(
    'policy',
    `the orders may cost ${formatMoney(cents)}, and --max-total is ${formatMoney(maxTotal)}; nothing was sent`,
    {
      code: 'max_total_exceeded',
      outcome: 'not_sent',
      details: { total_cents: cents, max_total_cents: maxTotal },
      hint: 'Leave rows out, lower their ceilings, or raise --max-total.',
    },
  );
}
