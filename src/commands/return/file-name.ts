import { dirname, resolve } from 'node:path';
import { invisibleAstral, invisibleBmp } from '../../platform/redact/invisible.ts';

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
