import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { objectsIn, own, textIn } from '../api/json.ts';
import { comparableUrl } from '../platform/net/urls.ts';
import { makePrivateFolder, readPrivateFile } from '../platform/private-files.ts';

/** The stored part of a list row. With it, the user can refer to the row by number. */
export interface SavedRow {
  readonly id: string;
  readonly label: string;
  readonly facts: Readonly<Record<string, string>>;
}

/** The last list shown on a terminal. */
export interface SavedList {
  /** What kind of item the rows are, in the program's terms. */
  readonly kind: string;
  readonly profile: string;
  readonly service: string;
  /** When the list was shown, in ms since the epoch. */
  readonly at: number;
  /** The first row comes first. Null stands for a row that cannot be referenced. */
  readonly rows: readonly (SavedRow | null)[];
}

/** How long, in ms, rows can be referenced by number. */
const listLifetimeMs = 3600 * 1000;

/** How far in the future, in ms, a list may be dated because of clock skew. */
const clockPlayMs = 60_000;

/**
 * Maximum length of a single text in a row, and of a whole list, in UTF-16 units. Rows beyond the total are dropped.
 */
const maxTextLength = 4000;
const maxListLength = 2_000_000;

/**
 * The last list printed on a terminal. Best effort: write errors are ignored, and an unreadable or invalid file counts
 * as absent.
 */
export class LastList {
  readonly #folder: string;
  readonly #file: string;
  readonly #now: () => number;

  /** @param terminal identifies this terminal and session. */
  constructor(stateFolder: string, terminal: string, now: () => number) {
    this.#folder = join(stateFolder, 'lists');
    const name = createHash('sha256').update(terminal).digest('hex').slice(0, 32);
    this.#file = join(this.#folder, `${name}.json`);
    this.#now = now;
  }

  /** Replaces the previous list atomically; removes expired lists. */
  write(list: Omit<SavedList, 'at'>): void {
    const text = JSON.stringify({ ...list, at: this.#now(), rows: bounded(list.rows) });
    this.#sweep();
    // The list was printed, although it cannot be saved. Remove the previous list, because its numbers would now refer
    // to the wrong rows.
    if (!writeWhole(this.#folder, this.#file, text)) removeIfPossible(this.#file);
  }

  /**
   * Returns the stored list; undefined if there is none. Returns even an expired list, because its age explains why its
   * rows can no longer be referenced.
   */
  read(): SavedList | undefined {
    try {
      const bytes = readPrivateFile(this.#file, () => {});
      return bytes && listOf(JSON.parse(bytes.toString()));
    } catch {
      return undefined;
    }
  }

  /**
   * Whether a list has expired. A list that is dated in the future also counts as expired, because it was saved before
   * the clock was set back.
   */
  isOver({ at }: SavedList): boolean {
    const age = this.#now() - at;
    return age >= listLifetimeMs || age < -clockPlayMs;
  }

  #names(): string[] {
    try {
      return readdirSync(this.#folder);
    } catch {
      // The folder does not exist yet, or is not a folder.
      return [];
    }
  }

  #sweep(): void {
    for (const name of this.#names()) {
      const path = join(this.#folder, name);
      const written = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
      if (written !== undefined && this.#now() - written >= 2 * listLifetimeMs) removeIfPossible(path);
    }
  }
}

function bounded(rows: SavedList['rows']): SavedList['rows'] {
  let room = maxListLength;
  const saved: (SavedRow | null)[] = [];
  for (const row of rows) {
    const texts = row === null ? [] : [row.id, row.label, ...Object.entries(row.facts).flat()];
    room -= texts.reduce((sum, text) => sum + text.length, 0);
    if (room < 0) break;
    saved.push(texts.some(({ length }) => length > maxTextLength) ? null : row);
  }
  return saved;
}

/** Validates a stored list field by field; undefined if invalid. */
function listOf(value: unknown): SavedList | undefined {
  const [kind, profile, service, at, rows] = ['kind', 'profile', 'service', 'at', 'rows'].map((name) =>
    own(value, name),
  );
  if (typeof kind !== 'string' || typeof profile !== 'string' || typeof service !== 'string')
    return undefined;
  if (typeof at !== 'number' || !Array.isArray(rows)) return undefined;
  return { kind, profile, service, at, rows: rows.map(rowOf) };
}

function rowOf(value: unknown): SavedRow | null {
  const [id, label, facts] = ['id', 'label', 'facts'].map((name) => own(value, name));
  if (typeof id !== 'string' || typeof label !== 'string') return null;
  if (typeof facts !== 'object' || facts === null) return null;
  const texts = Object.entries(facts).flatMap(([name, text]): [string, string][] =>
    typeof text === 'string' ? [[name, text]] : [],
  );
  return { id, label, facts: Object.fromEntries(texts) };
}

/** Maximum length of a title, in UTF-16 units. */
const maxTitleLength = 200;
/** Maximum number of titles stored. Beyond it, the oldest titles are dropped. */
const maxTitles = 1000;

export type ShownTitle = readonly [url: string | undefined, title: string | undefined];

/**
 * Titles of products that were shown to the user on this machine, by service, account and URL. Best effort: write
 * errors are ignored, an unreadable file counts as if there were none, and concurrent writers may lose an update.
 */
export class Titles {
  readonly #folder: string;
  readonly #file: string;
  readonly #owner: readonly string[];

  /** @param account is the fingerprint of the API key. */
  constructor(
    stateFolder: string,
    { service, account }: { readonly service: string; readonly account: string },
  ) {
    this.#folder = stateFolder;
    this.#file = join(stateFolder, 'titles.json');
    this.#owner = [service, account];
  }

  /**
   * Stores the titles that are usable. Skips a title that looks like a URL, because a reader could mistake such a title
   * for the URL of the product.
   */
  save(shown: Iterable<ShownTitle>): void {
    const saved = this.#read();
    const before = new Map(saved);
    for (const [url, title = ''] of shown) {
      const text = title.trim().slice(0, maxTitleLength);
      if (url === undefined || text === '' || /^https?:/i.test(text)) continue;
      const key = this.#keyOf(url);
      if (before.get(key) === text) continue;
      saved.delete(key);
      saved.set(key, text);
    }
    if (isSame(before, saved)) return;
    const titles = [...saved].slice(-maxTitles).map(([key, title]) => ({ key, title }));
    writeWhole(this.#folder, this.#file, JSON.stringify({ titles }));
  }

  /** Reads the file once, now, and returns a function that looks up a title by URL. */
  reader(): (url: string) => string | undefined {
    const saved = this.#read();
    return (url) => (saved.size === 0 ? undefined : saved.get(this.#keyOf(url)));
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
        rows.slice(-maxTitles).flatMap((row): [string, string][] => {
          const [key, title] = [textIn(row, 'key'), textIn(row, 'title')];
          return key === undefined || !title ? [] : [[key, title.slice(0, maxTitleLength)]];
        }),
      );
    } catch {
      return new Map();
    }
  }
}

const isSame = (one: ReadonlyMap<string, string>, other: ReadonlyMap<string, string>): boolean =>
  one.size === other.size && [...other].every(([key, title]) => one.get(key) === title);

/**
 * Atomically replaces a private file that exists for convenience only. The write is not durable: a power cut may lose
 * it.
 * @returns false if the file could not be written, for example because the disk is full or read-only.
 */
export function writeWhole(folder: string, file: string, text: string): boolean {
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    makePrivateFolder(folder, () => {});
    writeFileSync(draft, text, { flag: 'wx', mode: 0o600 });
    renameSync(draft, file);
    return true;
  } catch {
    removeIfPossible(draft);
    return false;
  }
}

export function removeIfPossible(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // Best effort: if a file cannot be removed, it stays.
  }
}
