import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { objectsIn, own, textIn } from '../api/json.ts';
import { comparableUrl } from '../platform/net/urls.ts';
import { makePrivateFolder, readPrivateFile } from '../platform/private-files.ts';

/** A row of a list, as far as its number names it. */
export interface KeptRow {
  readonly id: string;
  readonly label: string;
  readonly facts: Readonly<Record<string, string>>;
}

/** What a terminal was last shown a list of. */
export interface KeptList {
  /** What its rows are, in the words of the program. */
  readonly kind: string;
  readonly profile: string;
  readonly service: string;
  /** ms since the epoch. */
  readonly at: number;
  /** The first row first; one that nothing names is null. */
  readonly rows: readonly (KeptRow | null)[];
}

/** How long the rows of a list can be named, ms. */
const listLifeMs = 3600 * 1000;

/** How far ahead of this clock a list may be and still be one of a moment ago, ms. */
const clockPlayMs = 60_000;

/** Of one text of a row, in UTF-16 units; and of a whole list. Beyond that the rows that follow are left out. */
const longestText = 4000;
const mostText = 2_000_000;

/**
 * The list that one terminal printed last. It serves convenience alone: what cannot be written is not kept, and what
 * cannot be read, or is not what was written, is not there.
 */
export class LastList {
  readonly #folder: string;
  readonly #file: string;
  readonly #now: () => number;

  /** @param terminal tells this terminal and session from others. */
  constructor(stateFolder: string, terminal: string, now: () => number) {
    this.#folder = join(stateFolder, 'lists');
    const name = createHash('sha256').update(terminal).digest('hex').slice(0, 32);
    this.#file = join(this.#folder, `${name}.json`);
    this.#now = now;
  }

  /** Takes the place of the list before, whole or not at all; lists that are over are removed. */
  write(list: Omit<KeptList, 'at'>): void {
    const text = JSON.stringify({ ...list, at: this.#now(), rows: bounded(list.rows) });
    this.#sweep();
    // Where it cannot be written the list was printed all the same, and an older one would name other rows.
    if (!writeWhole(this.#folder, this.#file, text)) removeIfPossible(this.#file);
  }

  /** Undefined where none is kept. One that is over is still given: its age says why its rows name nothing. */
  read(): KeptList | undefined {
    try {
      const bytes = readPrivateFile(this.#file, () => {});
      return bytes && listOf(JSON.parse(bytes.toString()));
    } catch {
      return undefined;
    }
  }

  /** Whether the rows of a list still name something; one of the future was written before a clock was set back. */
  isOver({ at }: KeptList): boolean {
    const age = this.#now() - at;
    return age >= listLifeMs || age < -clockPlayMs;
  }

  #names(): string[] {
    try {
      return readdirSync(this.#folder);
    } catch {
      // There is no such folder yet, or it is none.
      return [];
    }
  }

  #sweep(): void {
    for (const name of this.#names()) {
      const path = join(this.#folder, name);
      const written = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
      if (written !== undefined && this.#now() - written >= 2 * listLifeMs) removeIfPossible(path);
    }
  }
}

function bounded(rows: KeptList['rows']): KeptList['rows'] {
  let room = mostText;
  const kept: (KeptRow | null)[] = [];
  for (const row of rows) {
    const texts = row === null ? [] : [row.id, row.label, ...Object.entries(row.facts).flat()];
    room -= texts.reduce((sum, text) => sum + text.length, 0);
    if (room < 0) break;
    kept.push(texts.some(({ length }) => length > longestText) ? null : row);
  }
  return kept;
}

/** What was written, field by field; undefined for anything else. */
function listOf(value: unknown): KeptList | undefined {
  const [kind, profile, service, at, rows] = ['kind', 'profile', 'service', 'at', 'rows'].map((name) =>
    own(value, name),
  );
  if (typeof kind !== 'string' || typeof profile !== 'string' || typeof service !== 'string')
    return undefined;
  if (typeof at !== 'number' || !Array.isArray(rows)) return undefined;
  return { kind, profile, service, at, rows: rows.map(rowOf) };
}

function rowOf(value: unknown): KeptRow | null {
  const [id, label, facts] = ['id', 'label', 'facts'].map((name) => own(value, name));
  if (typeof id !== 'string' || typeof label !== 'string') return null;
  if (typeof facts !== 'object' || facts === null) return null;
  const texts = Object.entries(facts).flatMap(([name, text]): [string, string][] =>
    typeof text === 'string' ? [[name, text]] : [],
  );
  return { id, label, facts: Object.fromEntries(texts) };
}

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

/**
 * Puts a private file of convenience in the place of the one before, whole or not at all. Nothing durable: a power cut may
 * lose it. @returns whether it is there: on a full disk or a read-only one it is not.
 */
function writeWhole(folder: string, file: string, text: string): boolean {
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
    // Where nothing can be removed there is nothing that could be done about it.
  }
}
