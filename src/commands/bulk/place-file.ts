import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { usualBatchRows } from '../../bulk/batches.ts';
import { identityOf, uploadName } from '../../bulk/begin-upload.ts';
import { checkedFile } from '../../bulk/checked-file.ts';
import type { FileCheck } from '../../bulk/file-check.ts';
import { readReading } from '../../bulk/reading.ts';
import { openCopy, type Source } from '../../bulk/source.ts';
import { isShort, leftOutText, rowsText, shortOf, spendLine } from '../../bulk/spend.ts';
import { type TableFlags, tableFlags } from '../../bulk/table-options.ts';
import { existedBefore, keysOf, meantByUpload, uploadFile, wasBegun } from '../../bulk/upload-file.ts';
import { UploadLook } from '../../bulk/upload-look.ts';
import { checkTotal } from '../../bulk/upload-options.ts';
import { keptSource } from '../../bulk/upload-source.ts';
import type { Context } from '../../context.ts';
import { confirmSpending } from '../../orders/confirm-spending.ts';
import { countText } from '../../output/count-text.ts';
import type { ResultOf } from '../../output/output-forms.ts';
import { shellWord } from '../../shell-word.ts';
import { type Consent, consentOf } from '../../spending/options.ts';
import { notePolicy, policyLines } from '../../spending/through-policy.ts';
import { type sentOutput, sentResult } from './uploaded.ts';

/** What a user says of an upload, and agrees to. */
interface Given extends TableFlags, Omit<Consent, 'plan'> {
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

/** Checks a file, shows what it comes to, places its orders, and shows what became of them. @throws ErrandError. */
export async function placeFile(
  context: Context,
  file: string,
  given: Given,
): Promise<ResultOf<typeof sentOutput>> {
  const { batchSize = usualBatchRows, run = '', skipInvalid = false, yes = false, watch = false } = given;
  const notifies = given.notifyOnComplete ?? false;
  const source = await openCopy(context, file);
  try {
    const { options, flags: table } = await readReading(context, source, given);
    const look = new UploadLook();
    const check = await checkedFile(context, source, options, {
      skipInvalid,
      errors: given.errors,
      ...{ run, look },
      validate: `errand bulk validate ${shellWord(source.path)}${tableFlags(table)}`,
    });
    checkTotal(check.spend.estimate, given.maxTotal);
    const identity = await identityOf(keysOf(check, run));
    const { name, facts: named } = await uploadName(context, {
      given: given.name,
      file: source.name,
      identity,
    });
    const leftOut = {
      count: check.tally.invalid,
      first: [...check.leftOut].sort((one, other) => one - other),
    };
    const from = {
      path: source.isPipe ? null : resolve(file),
      sha256: await sha256Of(source),
      table: {
        ...{ preset: options.preset?.name, map: options.map, amounts: options.amounts },
        ...{ locale: given.locale, encoding: given.encoding, delimiter: given.delimiter },
      },
      ...{ batchSize, run, skipInvalid, notifies },
    };
    const upload = {
      ...{ name: source.name, batchSize, run, notifies },
      beginning: {
        name,
        upload: { identity, file: source.name, rows: check.tally.orders, source: keptSource(from, leftOut) },
      },
      ...consentOf(given),
    };
    if (isShort(check.spend) && !(await wasBegun(context, check, upload)))
      throw shortOf(context, check.spend);
    const lines = spendLines(source, check);
    const looks = await look.lines(context, check);
    const rows = check.tally.orders;
    let wereShown = false;
    await confirmSpending(context, {
      yes,
      question: `Place ${rows === 1 ? 'this order' : `these ${countText(rows)} orders`} with real money?`,
      lines: async () => {
        wereShown = true;
        return [
          ...[...lines, ...looks].map((line) => `  ${line}`),
          ...(await policyLines(context, await meantByUpload(context, check, upload))),
        ];
      },
    });
    if (context.previewsRequests) await notePolicy(context, await meantByUpload(context, check, upload));
    if (context.isRehearsal()) for (const line of lines) context.note(line);
    if (!wereShown) for (const line of looks) context.note(line);
    const sent = await uploadFile(context, check, upload);
    const facts = [
      ...named,
      ...(check.tally.invalid === 0 ? [] : lines.slice(0, 1)),
      ...existedBefore(sent.batches),
    ];
    return await sentResult(context, sent, { facts, watch, toldRows: look.keptRows });
  } finally {
    await source.close();
  }
}

const spendLines = (source: Source, { tally, spend }: FileCheck): string[] => [
  `${source.name}: ${leftOutText(tally) ?? rowsText(tally.orders)}`,
  spendLine(spend),
];

async function sha256Of(source: Source): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of source.chunks()) hash.update(chunk);
  return hash.digest('hex');
}
