import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { isObject, listIn, numberIn, own, setOwn, textIn } from '../api/json.ts';
import { writeWhole } from '../journal/saved-files.ts';
import { readPrivateFile } from '../platform/private-files.ts';
import type { Context } from '../run/context.ts';
import type { Day } from './cadence.ts';
import type { ScheduleFields } from './schedule-fields.ts';

/** Maximum number of versions of an entry to remember. */
const maxVersions = 50;

/** What this machine knows of an entry. */
export interface KnownEntry {
  /** Versions that this machine has run with. */
  readonly versions: readonly string[];
  /** Everything up to this date is over, and was reported if it was missed. */
  readonly closed: Day | undefined;
}

/** The schedule of an entry that this machine knows, and from when on its dates count. */
export interface KnownSchedule {
  /** What the file says of that. */
  readonly stamp: string;
  /** What it said before. */
  readonly stamps: readonly string[];
  readonly terms: ScheduleFields;
  /** Ms since the epoch, by the service's clock; undefined if all of them count. */
  readonly since: number | undefined;
  /** Dates after that which do not count. */
  readonly left: readonly Day[];
  /** When the schedule was edited by hand, ms since the epoch; undefined if it was not. */
  readonly editedAt: number | undefined;
  /** When this machine saw it last, by the service's clock, ms since the epoch. */
  readonly seenAt: number | undefined;
  /** When its entry was found to be gone, ms since the epoch; undefined if it is there. */
  readonly goneAt: number | undefined;
  /** Whether a run has reported what an edit by hand has left out. */
  readonly isReported: boolean;
  /** Path of its file. */
  readonly file?: string | undefined;
}

/** Until when no date of a file can be due, by this machine's clock, ms since the epoch. */
export interface Idle {
  /** SHA-256 of the file. */
  readonly sha256: string;
  readonly from: number;
  readonly until: number;
}

/**
 * What this machine remembers between runs. It saves requests and repeated reports, and tells an edit of a schedule by
 * hand. A file that is missing, unreadable or invalid counts as empty: no date is bought twice then.
 */
export class RunMemory {
  readonly #folder: string;
  readonly #service: string;
  #value: Readonly<Record<string, unknown>>;
  #isChanged = false;

  constructor({ settings: { folders, profile, baseUrl } }: Pick<Context, 'settings'>) {
    this.#folder = folders.state;
    this.#service = `${profile.value} ${baseUrl.value}`;
    this.#value = this.#read();
  }

  /** @param path is that of the file of standing orders. */
  idleOf(path: string): Idle | undefined {
    const found = own(own(own(this.#value, 'idle'), this.#service), path);
    const [sha256, from, until] = [
      textIn(found, 'sha256'),
      numberIn(found, 'from'),
      numberIn(found, 'until'),
    ];
    return sha256 === undefined || from === undefined || until === undefined
      ? undefined
      : { sha256, from, until };
  }

  setIdle(path: string, idle: Idle | undefined): void {
    if (!idle && !this.idleOf(path)) return;
    this.#set(['idle', this.#service, path], idle);
  }

  entry(id: string): KnownEntry {
    return {
      versions: listIn(own(this.#value, 'versions'), id).filter((one) => typeof one === 'string'),
      closed: numberIn(own(own(this.#value, 'closed'), this.#service), id),
    };
  }

  /** Remembers a version that this machine runs with. */
  addVersion(id: string, version: string): void {
    const { versions } = this.entry(id);
    if (versions.at(-1) === version) return;
    const others = versions.filter((one) => one !== version);
    this.#set(['versions', id], [...others.slice(1 - maxVersions), version]);
  }

  close(id: string, day: Day): void {
    const { closed } = this.entry(id);
    if (closed === undefined || day > closed) this.#set(['closed', this.#service, id], day);
  }

  schedule(id: string): KnownSchedule | undefined {
    const found = own(own(own(this.#value, 'schedules'), this.#service), id);
    const [stamp, terms] = [textIn(found, 'stamp'), own(found, 'terms')];
    if (stamp === undefined || !isScheduleFields(terms)) return undefined;
    return {
      ...{ stamp, terms, since: numberIn(found, 'since'), editedAt: numberIn(found, 'editedAt') },
      ...{ seenAt: numberIn(found, 'seenAt'), goneAt: numberIn(found, 'goneAt') },
      ...{ file: textIn(found, 'file'), isReported: own(found, 'isReported') === true },
      stamps: listIn(found, 'stamps').filter((one) => typeof one === 'string'),
      left: listIn(found, 'left').filter((one) => typeof one === 'number'),
    };
  }

  setSchedule(id: string, known: KnownSchedule): void {
    if (!isDeepStrictEqual(this.schedule(id), known)) this.#set(['schedules', this.#service, id], known);
  }

  /**
   * Remembers that entries are gone from a file, so that what is due meanwhile is not bought once they are there again.
   * @param there are the ids of those that it has. @param at is the time, ms since the epoch.
   */
  leaveOthers(path: string, there: readonly string[], at: number): void {
    for (const id of Object.keys(Object(own(own(this.#value, 'schedules'), this.#service)))) {
      const known = this.schedule(id);
      if (known?.file === path && !there.includes(id)) this.setSchedule(id, { ...known, goneAt: at });
    }
  }

  /** Writes what has changed. */
  save(): void {
    if (!this.#isChanged) return;
    this.#isChanged = false;
    writeWhole(this.#folder, this.#file, JSON.stringify(this.#value));
  }

  get #file(): string {
    return join(this.#folder, 'standing.json');
  }

  #set(path: readonly string[], value: unknown): void {
    this.#value = withValue(this.#value, path, value);
    this.#isChanged = true;
  }

  #read(): Readonly<Record<string, unknown>> {
    try {
      const bytes = readPrivateFile(this.#file, () => {});
      const value: unknown = bytes && JSON.parse(bytes.toString());
      return isObject(value) ? value : {};
    } catch {
      return {};
    }
  }
}

function withValue(
  record: Readonly<Record<string, unknown>>,
  [name = '', ...rest]: readonly string[],
  value: unknown,
): Readonly<Record<string, unknown>> {
  const inner = own(record, name);
  const changed: Record<string, unknown> = { ...record };
  setOwn(changed, name, rest.length === 0 ? value : withValue(isObject(inner) ? inner : {}, rest, value));
  return changed;
}

/** Whether a value has the form of a schedule. Whoever reads it checks what it says. */
const isScheduleFields = (value: unknown): value is ScheduleFields =>
  isObject(value) && ['at', 'time_zone', 'late'].every((name) => typeof value[name] === 'string');
