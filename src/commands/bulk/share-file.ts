import type { SharedGiven } from '../../bulk/share/share-upload.ts';
import { checkShared } from '../../bulk/share/terms.ts';
import { openCopy } from '../../bulk/source.ts';
import { existedBefore } from '../../bulk/upload/upload.ts';
import type { ResultOf } from '../../format/output-forms.ts';
import { UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { type sentOutput, sentResult } from './uploaded.ts';

/** Uploads a file as one of several workers, and shows what became of all of it. @throws ErrandError. */
export async function shareFile(
  context: Context,
  file: string | undefined,
  { shard, watch = false, ...given }: SharedGiven & { readonly shard?: string | undefined },
): Promise<ResultOf<typeof sentOutput>> {
  checkShared({ shard, file, name: given.name, errors: given.errors });
  const { database } = context.settings;
  if (!database)
    throw new UsageError('bulk upload --share needs a database that all workers reach, and none is named', {
      hint: 'Set ERRAND_DATABASE_URL, or the database of a profile. Without one, --shard 1/4 takes a part of a file.',
    });
  const source = file === undefined ? undefined : await openCopy(context, file);
  try {
    const { shareUpload } = await import('../../bulk/share/share-upload.ts');
    const { sent, facts, toldRows, hasOrdered } = await shareUpload(context, database, source, given);
    return await sentResult(context, sent, {
      facts: [...facts, ...(hasOrdered ? [] : existedBefore(sent.batches))],
      watch,
      toldRows,
    });
  } finally {
    await source?.close();
  }
}
