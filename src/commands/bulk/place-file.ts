import { shardOf } from '../../bulk/shard.ts';
import { openCopy } from '../../bulk/source.ts';
import { prepareUpload, type UploadGiven } from '../../bulk/upload/prepare.ts';
import { existedBefore, uploadFile } from '../../bulk/upload/upload.ts';
import type { ResultOf } from '../../format/output-forms.ts';
import type { Context } from '../../run/context.ts';
import { nothingIn, type sentOutput, sentResult } from './uploaded.ts';

/** Checks a file, shows what it comes to, places its orders, and shows what became of them. @throws ErrandError. */
export async function placeFile(
  context: Context,
  file: string,
  { shard: part, watch = false, ...given }: UploadGiven & { readonly shard?: string | undefined },
): Promise<ResultOf<typeof sentOutput>> {
  const shard = shardOf(part);
  const source = await openCopy(context, file);
  try {
    const prepared = await prepareUpload(context, source, given, { shard });
    if (!prepared) return nothingIn(String(part), source.name);
    const sent = await uploadFile(context, prepared.check, prepared.upload);
    const facts = [...prepared.facts, ...existedBefore(sent.batches)];
    return await sentResult(context, sent, { facts, watch, toldRows: prepared.toldRows });
  } finally {
    await source.close();
  }
}
