import { ErrandError } from '../platform/errors.ts';
import type { Context } from '../run/context.ts';
import { IssueGroups, savingIssues } from './check/issues.ts';
import { FileCheck, type Scope } from './file-check.ts';
import type { RowsOptions } from './rows.ts';
import type { Source } from './source.ts';
import { countLine } from './spend.ts';

/** Kinds of errors shown when a file is refused. */
const shownKinds = 10;

/** Checks the whole file, here and at the service. @throws ErrandError where it cannot be uploaded as it is. */
export async function checkedFile(
  context: Context,
  source: Source,
  options: RowsOptions,
  {
    skipInvalid,
    errors,
    validate,
    ...shown
  }: { skipInvalid: boolean; errors: string | undefined; validate: string } & Pick<
    Scope,
    'run' | 'look' | 'shard' | 'checkRows' | 'spare'
  >,
): Promise<FileCheck> {
  const check = new FileCheck(context, source, options, { local: context.previewsRequests, ...shown });
  const groups = new IssueGroups();
  try {
    for await (const found of savingIssues(context, check.issues(), errors)) groups.add(found);
  } finally {
    for (const line of groups.lines(shownKinds)) context.note(line);
  }
  const { tally } = check;
  const valid = tally.rows - tally.invalid;
  const isNone = tally.orders === 0 && !check.isEmptyShard();
  const [holding] = tally.holding;
  if (isNone || holding !== undefined || (tally.invalid > 0 && !skipInvalid)) {
    throw new ErrandError('ended_badly', `${countLine(valid, tally.rows)}; nothing was sent`, {
      outcome: 'not_sent',
      details: { rows: tally.rows, invalid: tally.invalid, errors: tally.issues },
      hint: hintFor({ isNone, holding }),
      next: [{ command: validate, when: 'to list every error' }],
    });
  }
  return check;
}

function hintFor({ isNone, holding }: { isNone: boolean; holding: number | undefined }): string {
  if (holding !== undefined)
    return `Correct the quotes of row ${holding} first: --skip-invalid leaves out no row that may hold others.`;
  return isNone
    ? 'Correct them; there is no valid row to upload.'
    : 'Correct them, or upload the valid ones alone with --skip-invalid.';
}
