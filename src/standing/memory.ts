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

/** What this machine remembers of an entry besides its schedule. */
export interface KnownEntry {
  /** Versions of the entry with which this machine has run. */
  readonly versions: readonly string[];
  /** All dates up to this date are over, and missed dates among them have been reported. */
  readonly closed: Day | undefined;
}

/** The schedule of an entry as this machine last saw it, and which dates of that schedule count. */
export interface KnownSchedule {
  /** What the file stated about which dates count. */
  readonly stamp: string;
  /** What it said before. */
  readonly stamps: readonly string[];
  readonly terms: ScheduleFields;
  /** Time from which dates count, in ms since the epoch by the service's clock. Undefined if all dates count. */
  readonly since: number | undefined;
  /** Dates after `since` that do not count. */
  readonly left: readonly Day[];
  /** When the schedule was edited by hand, in ms since the epoch. Undefined if it was not edited by hand. */
  readonly editedAt: number | undefined;
  /** When this machine last saw the schedule, in ms since the epoch by the service's clock. */
  readonly seenAt: number | undefined;
  /** When the entry was found missing from its file, in ms since the epoch. Undefined if the entry is in its file. */
  readonly goneAt: number | undefined;
  /** Whether a run has already reported the dates that were left out after an edit by hand. */
  readonly isReported: boolean;
  /** Path of its file. */
  readonly file?: string | undefined;
}

/** A span of time in which no date of the file can be due. Times are in ms since the epoch, by this machine's clock. */
export interface Idle {
  /** SHA-256 of the file. */
  readonly sha256: string;
  readonly from: number;
  readonly until: number;
}

/**
 * What this machine remembers between runs. The memory saves requests, avoids repeated reports, and reveals that a
 * schedule was edited by hand. If the file is missing, unreadable or invalid, the memory is empty, which never causes a
 * date to be bought twice.
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

  /** @param path is the path of the file of standing orders. */
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

  /** Remembers that this machine has run with a version of an entry. */
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
   * Remembers which entries are missing from a file. If such an entry reappears, dates that became due in the meantime
   * are not bought.
   * @param there lists the ids that the file contains.
   * @param at is the current time, in ms since the epoch.
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

/** Whether a value has the form of a schedule. The contents of the schedule are validated when it is used. */
const isScheduleFields = (value: unknown): value is ScheduleFields =>
  isObject(value) && ['at', 'time_zone', 'late'].every((name) => typeof value[name] === 'string');
