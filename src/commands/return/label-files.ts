import { basename, join } from 'node:path';
import { listIn } from '../../api/json.ts';
import type { Received } from '../../api/received.ts';
import { decoded } from '../../platform/network/escapes.ts';
import { pathInside, safeFileName } from './file-name.ts';

export interface LabelFile {
  /** As the caller requested it. */
  readonly returnId: string;
  /** From 0, among the labels of its return. */
  readonly index: number;
  readonly url: string;
  /** Where it goes. */
  readonly path: string;
}

/** The links of a return's labels; what is not text leads nowhere. */
export const labelUrls = (record: { readonly label_urls?: unknown }): string[] =>
  listIn(record, 'label_urls').filter((url) => typeof url === 'string');

/** Where each label goes: names hold the return, so that labels of several returns share a folder. No two are the same. */
export function labelFiles(dir: string, returns: readonly Received<'return.get'>[]): LabelFile[] {
  const taken = new Map<string, number>();
  return returns.flatMap((record) =>
    labelUrls(record).map((url, index) => {
      const { id } = record;
      const name = freeName(`return-${safeFileName(id, 'x').slice(0, 8)}-${nameIn(url)}`, taken);
      // As short as the caller wrote the folder.
      return { returnId: id, index, url, path: join(dir, basename(pathInside(dir, name))) };
    }),
  );
}

function nameIn(url: string): string {
  const path = URL.canParse(url) ? new URL(url).pathname : '';
  const name = safeFileName(decoded(path.split('/').at(-1) ?? ''));
  return labelExtension.test(name) ? name : `${name}.pdf`;
}

/** What labels come as. Any other ending could make a program or a page of a file that somebody opens. */
const labelExtension = /\.(?:pdf|png|gif|jpe?g|tiff?|zpl|epl|txt)$/i;

/** A name that none of the others has; file systems of people's machines often do not tell case. */
function freeName(name: string, taken: Map<string, number>): string {
  const dot = name.lastIndexOf('.');
  const known = name.toLowerCase();
  let number = taken.get(known) ?? 1;
  let free = name;
  while (taken.has(free.toLowerCase())) {
    number += 1;
    free = `${name.slice(0, dot)}-${number}${name.slice(dot)}`;
  }
  taken.set(known, number);
  taken.set(free.toLowerCase(), 1);
  return free;
}
