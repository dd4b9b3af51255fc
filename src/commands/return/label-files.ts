import { basename, dirname, join, resolve } from 'node:path';
import { listIn } from '../../api/json.ts';
import type { Received } from '../../api/received.ts';
import { decoded } from '../../platform/net/urls.ts';
import { invisibleAstral, invisibleBmp } from '../../platform/redact/safe-text.ts';

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

/** Names that Windows keeps for devices, whatever their extension. */
const reserved = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/i;
const longest = 80;
const unfit = /[^\p{L}\p{N}._ -]/gu;
/** Some of these count as letters. */
const invisible = new RegExp(`[${invisibleBmp}${invisibleAstral}]`, 'gu');

/**
 * A name from outside as the name of a file, or as a part of one: of its last part the letters, digits and a few marks.
 * No path, drive, device, control or invisible character is left; `fallback` where nothing else is. Pure.
 */
export function safeFileName(given: string, fallback = 'label'): string {
  // What lies beyond is cut off anyway.
  const last = (given.split(/[/\\]/).at(-1) ?? '').slice(-4 * longest);
  const plain = trimmed(last.normalize('NFC').replace(invisible, '_').replace(unfit, '_'));
  const name = plain === '' ? fallback : plain;
  return shortened(reserved.test(name) ? `_${name}` : name);
}

/** The path of a file in a folder. @throws Error where it would lie elsewhere: the last door, whatever the names are. */
export function pathInside(folder: string, name: string): string {
  const path = resolve(folder, name);
  if (dirname(path) !== resolve(folder)) throw new Error(`${JSON.stringify(name)} would leave the folder`);
  return path;
}

/** A file of that beginning would be hidden or taken for a flag, and Windows drops that end. */
const trimmed = (name: string): string => name.replace(/^[. _-]+/, '').replace(/(?<![. ])[. ]+$/, '');

/** Cut to what every file system takes, its extension kept. */
function shortened(name: string): string {
  if (Buffer.byteLength(name) <= longest) return name;
  const extension = /\.[A-Za-z0-9]{1,8}$/.exec(name)?.[0] ?? '';
  let room = longest - extension.length;
  let stem = '';
  for (const character of name.slice(0, name.length - extension.length)) {
    room -= Buffer.byteLength(character);
    if (room < 0) break;
    stem += character;
  }
  return `${stem}${extension}`;
}
