import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { objectsIn, textIn } from '../api/json.ts';
import { comparableUrl } from '../platform/net/urls.ts';
import { readPrivateFile } from '../platform/private-files.ts';
import { writeWhole } from './write-whole.ts';

/** Of a title, in UTF-16 units: more of it names nothing better. */
const longestTitle = 200;
/** Titles that are kept; the ones that came first go first. */
const mostTitles = 1000;

/** A product's URL and its title. */
export type SeenTitle = readonly [url: string | undefined, title: string | undefined];

/**
 * The titles of products that a person was shown on this machine, by service, account and URL. It serves convenience
 * alone: what cannot be written is not kept, what cannot be read is not there, and of two that write at once one is lost.
 */
export class Titles {
  readonly #folder: string;
  readonly #file: string;
  readonly #owner: readonly string[];

  /** @param account the fingerprint of its key. */
  constructor(
    stateFolder: string,
    { service, account }: { readonly service: string; readonly account: string },
  ) {
    this.#folder = stateFolder;
    this.#file = join(stateFolder, 'titles.json');
    this.#owner = [service, account];
  }

  /** Keeps what names something; a title that looks like an address would pass for one. */
  keep(seen: Iterable<SeenTitle>): void {
    const kept = this.#read();
    const before = new Map(kept);
    for (const [url, title = ''] of seen) {
      const text = title.trim().slice(0, longestTitle);
      if (url === undefined || text === '' || /^https?:/i.test(text)) continue;
      const key = this.#keyOf(url);
      if (before.get(key) === text) continue;
      kept.delete(key);
      kept.set(key, text);
    }
    if (isSame(before, kept)) return;
    const titles = [...kept].slice(-mostTitles).map(([key, title]) => ({ key, title }));
    writeWhole(this.#folder, this.#file, JSON.stringify({ titles }));
  }

  /** What reads the title of a URL; all of them are read now. */
  reader(): (url: string) => string | undefined {
    const kept = this.#read();
    return (url) => (kept.size === 0 ? undefined : kept.get(this.#keyOf(url)));
  }

  #keyOf(url: string): string {
    const text = JSON.stringify([...this.#owner, comparableUrl(url)]);
    return createHash('sha256').update(text).digest('base64url').slice(0, 22);
  }

  #read(): Map<string, string> {
    try {
      const bytes = readPrivateFile(this.#file, () => {});
      const rows = bytes ? objectsIn(JSON.parse(bytes.toString()), 'titles') : [];
      return new Map(
        rows.slice(-mostTitles).flatMap((row): [string, string][] => {
          const [key, title] = [textIn(row, 'key'), textIn(row, 'title')];
          return key === undefined || !title ? [] : [[key, title.slice(0, longestTitle)]];
        }),
      );
    } catch {
      return new Map();
    }
  }
}

const isSame = (one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): boolean =>
  one.size === other.size && [...other].every(([key, title]) => one.get(key) === title);
