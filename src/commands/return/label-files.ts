import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import type { Shape } from '../../contract/schemas/index.ts';
import { UsageError } from '../../errors.ts';
import { safeFileName } from './file-name.ts';

export interface LabelFile {
  /** As the caller asked for it. */
  readonly returnId: string;
  /** From 0, among the labels of its return. */
  readonly index: number;
  readonly url: string;
  /** Where it goes. */
  readonly path: string;
}

/** Where each label goes: names hold the return, so that labels of several returns share a folder. No two are the same. */
export function labelFiles(dir: string, returns: readonly Shape<'ReturnRequest'>[]): LabelFile[] {
  const taken = new Set<string>();
  return returns.flatMap(({ id, label_urls }) =>
    label_urls.map((url, index) => {
      const name = freeName(`return-${id.slice(0, 8)}-${nameIn(url)}`, taken);
      // File systems of people's machines often do not tell case.
      taken.add(name.toLowerCase());
      return { returnId: id, index, url, path: join(dir, name) };
    }),
  );
}

/** @throws UsageError naming the files that would be written over. */
export function refuseOverwriting(files: readonly LabelFile[]): void {
  const there = files.filter(({ path }) => lstatSync(path, { throwIfNoEntry: false }));
  if (there.length === 0) return;
  const names = there.map(({ path }) => path).join(', ');
  throw new UsageError(
    `${names} ${there.length > 1 ? 'are' : 'is'} there already; --force writes over ${there.length > 1 ? 'them' : 'it'}`,
  );
}

function nameIn(url: string): string {
  const path = URL.canParse(url) ? new URL(url).pathname : '';
  const name = safeFileName(decoded(path.split('/').at(-1) ?? ''));
  return /\.[A-Za-z0-9]{1,8}$/.test(name) ? name : `${name}.pdf`;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // What is not well encoded is taken as it stands.
    return text;
  }
}

function freeName(name: string, taken: ReadonlySet<string>): string {
  const dot = name.lastIndexOf('.');
  let free = name;
  for (let number = 2; taken.has(free.toLowerCase()); number += 1)
    free = `${name.slice(0, dot)}-${number}${name.slice(dot)}`;
  return free;
}
