import { uploadedColumns } from '../../bulk/batch-columns.ts';
import type { Uploaded } from '../../bulk/upload-file.ts';
import type { Context } from '../../context.ts';
import type { Result } from '../../output/result.ts';
import { shellWord } from '../../shell-word.ts';
import { whereFlags } from '../../where-flags.ts';

/** The command that follows batches. */
export function followLine(context: Context, uploaded: readonly Uploaded[]): string {
  const ids = uploaded.map(({ id }) => id);
  const shown = [...ids.slice(0, 3).map(shellWord), ...(ids.length > 3 ? ['…'] : [])].join(' ');
  return `follow: errand bulk watch ${shown}${whereFlags(context)}`;
}

/** The batches of an upload, and what is to be told of it. */
export function uploadedResult(
  context: Context,
  uploaded: readonly Uploaded[],
  facts: readonly string[],
): Result {
  return {
    kind: 'list',
    rows: uploaded.map((batch) => ({ ...batch })),
    columns: uploadedColumns,
    hints: () => [...facts, followLine(context, uploaded)],
  };
}
