import { copyFolder, type Sharing } from '../format/database-address.ts';
import { DamagedError, ErrandError, StorageError, UsageError, unread } from '../platform/errors.ts';
import type { Database, Freshness } from '../platform/sqlite/database.ts';
import { AttemptTable, LocalAttempts } from './attempt-table.ts';
import type { AttemptClaim, Attempts } from './attempts.ts';
import { AuditChain } from './audit.ts';
import { type AuditOrigin, nobody } from './audit-entry.ts';
import { intentEntry, stepEntry } from './audit-steps.ts';
import { contentHash } from './content.ts';
import { type OpenOptions, openStateDatabase } from './database.ts';
import { Grants } from './grants.ts';
import { IntentEnds } from './intent-ends.ts';
import { IntentOutcomes } from './intent-outcomes.ts';
import { isAdmitted } from './intent-proof.ts';
import { type IntentRow, isIntact, newIntent, recordOf, sealed } from './intent-row.ts';
import { IntentTable } from './intent-table.ts';
import { addressSalt, readFact } from './journal-facts.ts';
import type { Intent, IntentState, JournalRecord } from './journal-record.ts';
import { journalFile, journalMigrations } from './journal-tables.ts';
import { isSelf, self } from './owner.ts';
import type { Beside } from './postgres/beside.ts';
import { Quotes } from './quotes.ts';
import { Reservations, type Reserving } from './reservations.ts';
import { readSeal, sealOf, writeSeal } from './seal.ts';
import { checkFree, checkReuse, isOthers, mayHaveMade } from './take-over.ts';
import { damagedAdvice } from './tally.ts';
import { firstTwin, isMadeByKey, type Twin, type TwinRule } from './twins.ts';
import { Undoing } from './undoing.ts';

/**
 * The money journal: what was requested and is not known to the user survives timeouts, crashes and reboots. A record is
 * durable when `record` resolves; it is owned by a live process or free to be resumed. Shared safely by several processes.
 */
export class Journal extends IntentOutcomes {
  readonly audit: AuditChain;
  readonly reservations: Reservations;
  readonly quotes: Quotes;
  readonly undoing: Undoing;
  readonly #local: AttemptTable;
  readonly #closeAttempts: () => void;
  readonly #now: () => number;
  readonly #sealFile: string;
  readonly #recentMs: number;
  readonly #birth: BirthNote;

  private constructor({ database, beside, attempts }: Opened, now: () => number, options: JournalOptions) {
    const { repeatWindowMs = 0, birth, origin = () => nobody } = options;
    const table = new IntentTable(database);
    const audit = new AuditChain(database, now, origin);
    const grants = new Grants(database, now);
    const reservations = new Reservations(database, table, audit, now);
    const local = new AttemptTable(database);
    const parts = { table, audit, grants, reservations, attempts: beside ? undefined : local };
    const ends = new IntentEnds(parts, now);
    super({ database, table, ends, grants, beside, attempts: attempts ?? new LocalAttempts(database) });
    this.#closeAttempts = () => attempts?.close();
    this.#local = local;
    this.#recentMs = Math.max(repeatWindowMs, shortestRecentMs);
    // A copy may be lost at any time.
    this.#birth = new BirthNote(options.shared ? undefined : birth);
    this.audit = audit;
    this.reservations = reservations;
    this.quotes = new Quotes(database, audit, now);
    this.undoing = new Undoing(database, table, audit, now);
    this.#now = now;
    this.#sealFile = sealOf(database.file);
  }

  /** @throws StorageError where the journal cannot be written; then nothing may be sent. */
  static async open(folder: string, now: () => number, options: JournalOptions = {}): Promise<Journal> {
    const journal = new Journal(await openJournalDatabase(folder, options), now, options);
    try {
      await journal.catchUp();
      return journal;
    } catch (error) {
      await journal.close();
      throw error;
    }
  }

  /**
   * Writes an intent down, durably, before it is sent. A key that is in doubt already, for the same content, is taken over.
   * @param rule undefined where a second one of the same is meant. @param reserving the money that it may spend.
   * @param claim what becomes of its need: where no attempt is decided on, nothing is written, and it is `overtaken`.
   * @throws what `reserving` refuses; ErrandError conflict for a key in use by a live process, for other content or another account, or of an order
   * that would be paid again; StorageError where the journal cannot vouch for what it holds.
   */
  async record(
    intent: Intent,
    rule?: TwinRule,
    reserving?: Reserving,
    claim?: AttemptClaim,
  ): Promise<Recorded> {
    if (!claim || !this.beside) return this.#record(intent, rule, reserving, claim);
    const [serial] = await this.attemptStore.claim(claim.scope, [claim.need], claim.decide);
    if (serial === undefined) return { isOvertaken: true };
    this.claimed.add(intent.key);
    let isRecorded = false;
    try {
      const recorded = await this.#record(intent, rule, reserving);
      isRecorded = recorded.mayBeSent !== undefined;
      return recorded;
    } finally {
      if (!isRecorded) await this.#neverSent(serial);
    }
  }

  /** What is not written here is found out from the journal later, which has no such intent. */
  async #neverSent(serial: number): Promise<void> {
    try {
      await this.attemptStore.change([{ serial, state: 'unsent' }]);
    } catch (error) {
      if (!(error instanceof ErrandError)) throw error;
    }
  }

  async #record(
    intent: Intent,
    rule: TwinRule | undefined,
    reserving: Reserving | undefined,
    claim?: AttemptClaim,
  ): Promise<Recorded> {
    await this.ready();
    const seal = readSeal(this.#sealFile);
    const hash = contentHash(intent.operation, intent.body);
    // As it is sent for the first time; what an earlier attempt has left is in doubt as it was.
    let fresh: IntentRow | undefined;
    const work = (): Recorded & { readonly count?: number } => {
      this.table.tally.check(seal);
      const before = this.table.find(intent.key, intent.baseUrl);
      const earlier = withRecord(before);
      if (earlier) checkReuse(intent, hash, earlier);
      // Another process may have been faster with the same key.
      if (earlier && isMadeByKey(earlier, intent)) return { twin: { situation: 'made', record: earlier } };
      const twin = rule && this.#takeTwin(intent, hash, rule);
      if (twin) return { twin };
      if (claim && this.#local.claim(claim.scope, [claim.need], claim.decide)[0] === undefined)
        return { isOvertaken: true };
      this.reservations.policies.checkSeen();
      this.quotes.use(intent, earlier);
      const now = this.#now();
      const isAgain = before?.state === ('intended' satisfies IntentState);
      const keySince = reserving && this.#reserve(reserving, isAgain ? recordOf(before) : undefined);
      // The service counts the life of a key from its first use.
      const since = earliest(isoOf(now), keySince, isAgain ? String(before.created_at) : undefined);
      const row = newIntent(intent, hash, self(this.database.lease), since);
      this.table.write(row, before);
      const count = this.table.tally.next();
      const salt = addressSalt(this.database, this.table.tally);
      const policy = reserving?.policy?.hash ?? null;
      this.audit.append(intentEntry(intent, hash, count, { again: isAgain, salt, policy }));
      this.table.sweep(count, now, now - this.#recentMs);
      const mayBeSent = earlier !== undefined && mayHaveMade(earlier, intent);
      fresh = mayBeSent ? undefined : row;
      return { mayBeSent, count };
    };
    const recorded = await this.database.transaction(work).catch((error: unknown) => {
      throw this.beside?.notRecorded(error, fresh) ?? error;
    });
    if (recorded.twin) return this.#noted(recorded.twin);
    if (recorded.isOvertaken) return recorded;
    writeSeal(this.#sealFile, recorded.count ?? 0);
    await this.#birth.note(isoOf(this.#now()));
    this.run.note(intent);
    return { mayBeSent: recorded.mayBeSent };
  }

  /** Whether a record of the same intent stands in the way, without writing the intent down. @throws StorageError. */
  async look(intent: Intent, rule: TwinRule): Promise<Twin | undefined> {
    await this.ready();
    const seal = readSeal(this.#sealFile);
    const twin = await this.database.transaction(() => {
      this.table.tally.check(seal);
      return this.#takeTwin(intent, contentHash(intent.operation, intent.body), rule);
    });
    return twin && this.#noted(twin).twin;
  }

  /** The same, only read: nothing is taken over. @throws StorageError. */
  see(intent: Intent, rule: TwinRule): Twin | undefined {
    this.table.tally.check(readSeal(this.#sealFile));
    const twin = this.#findTwin(intent, contentHash(intent.operation, intent.body), rule);
    return twin && { situation: twin.situation, record: recordOf(twin.row) };
  }

  /** What a key stands for at other services than one. @throws StorageError. */
  elsewhere = (key: string, baseUrl: string): JournalRecord[] =>
    this.table.elsewhere(key, baseUrl).map(recordOf);

  /** How many intents were recorded, as the journal counts them, and how many of those before there was an audit chain. */
  recorded(): { readonly all: number; readonly beforeChain: number } {
    return {
      all: this.table.tally.count(),
      beforeChain: Number(readFact(this.database, 'chain_from') ?? 0),
    };
  }

  /** Reads all of it: what an order will need may lie on any page. @throws DamagedError where it is not whole; StorageError. */
  async checkWhole(): Promise<void> {
    const found = this.database.get('PRAGMA integrity_check(1)')?.integrity_check;
    if (found !== 'ok')
      throw this.table.tally.damaged('parts of it cannot be read, or contradict each other');
    this.list(true);
    this.table.checkTexts();
    this.reservations.since(0);
    (await this.reservations.approvals()).list();
  }

  /** The record of a key, whatever became of it. */
  find = (key: string, baseUrl: string) => withRecord(this.table.find(key, baseUrl));

  /**
   * What the journal holds of an intent that cannot be recorded now; undefined where nothing.
   * @param withTwins also under other keys: not where another of the same is meant. @throws StorageError.
   */
  earlier(intent: Intent, withTwins: boolean): JournalRecord | undefined {
    const hash = contentHash(intent.operation, intent.body);
    const twins = withTwins ? this.table.twins(intent, hash) : [];
    return [this.find(intent.key, intent.baseUrl), ...twins.map(recordOf)].find(
      (record) => record && record.state !== 'refused' && record.state !== 'forgotten',
    );
  }

  /** The user is shown a record that is known to this process. */
  recall(record: JournalRecord): void {
    if (record.state === 'responded') this.#noted({ situation: 'unreported', record });
  }

  /** The record that has led to an order or a batch. */
  madeBy(id: string, baseUrl: string): JournalRecord | undefined {
    return this.table.madeBy(id, baseUrl).filter(isIntact).map(recordOf)[0];
  }

  /** A key other than `key` whose record has led to an order: a service has several base URLs. @param baseUrl of that record; any where undefined. */
  otherKeyOf(id: string, key: string, baseUrl?: string): string | undefined {
    return this.table
      .madeAnywhere(id)
      .filter((row) => isIntact(row) && (baseUrl === undefined || row.base_url === baseUrl))
      .map((row) => recordOf(row).key)
      .find((other) => other !== key);
  }

  /** What the user has still to be shown, oldest first; with `all` everything that is kept. @throws StorageError. */
  list(all = false): JournalRecord[] {
    this.table.tally.check(readSeal(this.#sealFile));
    return (all ? this.table.all() : this.table.owed()).map((row) => this.#asKnown(recordOf(row)));
  }

  /** What was made here is not in doubt, though the database that machines share does not know of it yet. */
  #asKnown(record: JournalRecord): JournalRecord {
    const madeId = this.beside?.madeId({ key: record.key, baseUrl: record.base_url });
    return madeId === undefined || record.order_id !== null
      ? record
      : { ...record, state: 'responded', order_id: madeId };
  }

  /** Keys of what was recorded for a service since a time (ISO 8601), newest first. @throws StorageError. */
  keysSince = (baseUrl: string, since: string): string[] => this.table.keysSince(baseUrl, since);

  /** Where machines share it: what the journal that this one had of its own has in doubt or untold. @throws StorageError. */
  openInOwn = async (): Promise<readonly JournalRecord[]> => (await this.beside?.openInOwn()) ?? [];

  /** What is owed to the user by commands that were interrupted. @throws StorageError. */
  owed(): { readonly inDoubt: readonly JournalRecord[]; readonly unreported: readonly JournalRecord[] } {
    const free = this.list().filter((record) => !isOthers(record));
    return {
      inDoubt: free.filter(({ state }) => state !== 'responded'),
      unreported: free.filter(
        ({ state, pid, process_started: started }) => state === 'responded' && !isSelf({ pid, started }),
      ),
    };
  }

  /** The record of a key, or of a prefix of one that names a single record; of several services' the one at `baseUrl`. @throws ErrandError not_found, UsageError. */
  get(key: string, baseUrl: string): JournalRecord {
    return pickRecord(this.table.named(key).map(recordOf), key, baseUrl);
  }

  /**
   * Takes a record over, to resume it, or to end it otherwise. One that has ended since it was read is left as it is.
   * @returns the record as it is now. @throws ErrandError conflict where a live process works on it.
   */
  async claim(read: JournalRecord, isToSettle = true): Promise<JournalRecord> {
    const record = await this.database.transaction(() => {
      const row = this.table.find(read.key, read.base_url);
      if (!row || !isIntact(row)) return withRecord(row) ?? read;
      if (!isOwed(row)) return recordOf(row);
      checkFree(recordOf(row));
      return this.#take(row, isToSettle);
    });
    return isOwed(record) ? this.#noted({ situation: 'in_doubt', record }).twin.record : record;
  }

  /** Where machines share it: reads what others have written. @throws StorageError. */
  refresh(when?: Freshness): Promise<void> {
    return this.database.refresh(when);
  }

  /** The attempts of all needs, with what was recorded before they were kept. @throws StorageError. */
  async attempts(): Promise<Attempts> {
    if (!(await this.attemptStore.isComplete())) {
      const { earlierAttempts } = await import('./earlier-attempts.ts');
      await this.attemptStore.bringIn(() => earlierAttempts(this.table.all()));
    }
    return this.attemptStore;
  }

  close(): void | Promise<void> {
    this.beside?.close();
    this.#closeAttempts();
    return this.database.close();
  }

  /** @param again the record in doubt that is sent again. @returns since when the key of an order may have been used. */
  #reserve(reserving: Reserving, again: JournalRecord | undefined): string | undefined {
    const isForced = again !== undefined && isAdmitted(this.audit, this.reservations, again, reserving);
    return this.reservations.claim(reserving, isForced);
  }

  /** The record that stands in the way of a new one, taken over where no live process works on it. */
  #takeTwin(intent: Intent, hash: string, rule: TwinRule): Twin | undefined {
    const twin = this.#findTwin(intent, hash, rule);
    if (!twin) return undefined;
    const { row, situation } = twin;
    const isTaken = situation === 'in_doubt' || situation === 'unreported';
    return { situation, record: isTaken ? this.#take(row) : recordOf(row) };
  }

  #findTwin = (intent: Intent, hash: string, rule: TwinRule) =>
    firstTwin(this.table.twins(intent, hash), intent, hash, rule);

  #take(row: IntentRow, isToSettle = true): JournalRecord {
    const { pid, started } = self(this.database.lease);
    if (isToSettle && row.state === ('intended' satisfies IntentState))
      this.audit.append(stepEntry('resumed', row));
    const taken = sealed({ ...row, pid, process_started: started });
    this.table.write(taken, row);
    return recordOf(taken);
  }

  #noted(twin: Twin): { readonly twin: Twin } {
    const { situation, record } = twin;
    if (situation === 'in_doubt' || situation === 'unreported')
      this.run.note({ ...record, baseUrl: record.base_url }, record.order_id ?? undefined);
    return { twin };
  }
}

const isOwed = ({ state }: { readonly state?: unknown }): boolean =>
  state === 'intended' || state === 'responded';
const withRecord = (row: IntentRow | undefined): JournalRecord | undefined => row && recordOf(row);
const isoOf = (ms: number): string => new Date(ms).toISOString();
/** Of times ISO 8601. */
const earliest = (time: string, ...others: readonly (string | undefined)[]): string =>
  others.reduce<string>(
    (first, other) => (other !== undefined && Date.parse(other) < Date.parse(first) ? other : first),
    time,
  );

/** What a journal works on. */
interface Opened {
  readonly database: Database;
  /** Where machines share it. */
  readonly beside?: Beside;
  readonly attempts?: Attempts & { close(): void };
}

/** The journal's database: a file of this machine, or one that machines share, with what stands beside it. @throws StorageError. */
export async function openJournalDatabase(
  folder: string,
  { birth, shared, waiting, tell }: JournalOptions,
): Promise<Opened> {
  const options = { ...(waiting && { waiting }), ...(tell && { tell }), damagedAdvice, knowsOrders: true };
  if (!shared) {
    const file = journalFile(folder);
    const beforeFirst = (): void => checkBirth(file, birth);
    return { database: await openOwn(file, { ...options, beforeFirst }) };
  }
  const { openShared } = await import('./postgres/open.ts');
  const { Beside } = await import('./postgres/beside.ts');
  const file = journalFile(copyFolder(folder, shared.address));
  const { SharedAttempts } = await import('./postgres/attempts.ts');
  const database = await openShared(file, journalMigrations, 'journal', shared, options);
  const attempts = new SharedAttempts(shared.address, waiting?.signal);
  return { database, attempts, beside: new Beside(database, folder, shared, options) };
}

/** One that is locked while it is opened cannot be read either. */
async function openOwn(file: string, options: OpenOptions): Promise<Database> {
  try {
    return await openStateDatabase(file, journalMigrations, options);
  } catch (error) {
    throw error instanceof StorageError && error.facts.outcome === 'not_sent' ? unread(error) : error;
  }
}

/** The record that a key, or its beginning, names; of several services' the one at `baseUrl`. @throws ErrandError not_found, UsageError. */
function pickRecord(records: readonly JournalRecord[], key: string, baseUrl: string): JournalRecord {
  const exact = records.filter((record) => record.key === key);
  const named = exact.length > 0 ? exact : records;
  const here = named.filter((record) => record.base_url === baseUrl);
  const [record, ...more] = here.length > 0 ? here : named;
  if (!record)
    throw new ErrandError('not_found', `the journal has no record of ${key}`, {
      hint: 'Where the journal was lost, the same order with --idempotency-key and the whole key settles it just as well.',
      next: [listStep],
    });
  if (more.length === 0) return record;
  throw new UsageError(`${key} names ${records.length} records of the journal; give the whole key`, {
    next: [listStep],
  });
}

const listStep = { command: 'errand order journal list', when: 'to see what is in doubt' };

export interface JournalOptions extends OpenOptions {
  /** How long what was reported is looked for, ms. */
  readonly repeatWindowMs?: number;
  readonly birth?: Birth;
  /** Who acts, for the audit chain. */
  readonly origin?: () => AuditOrigin;
  /** The database that holds the journal, where machines share one. */
  readonly shared?: Sharing | undefined;
}

/** `mayBeSent`: an earlier process may have sent it. */
type Recorded =
  | { readonly twin: Twin; readonly isOvertaken?: never; readonly mayBeSent?: never }
  | { readonly twin?: never; readonly isOvertaken: true; readonly mayBeSent?: never }
  | { readonly twin?: never; readonly isOvertaken?: never; readonly mayBeSent: boolean };

/** How long what was reported stays recent at least, ms. */
const shortestRecentMs = 3600 * 1000;

/** What is known elsewhere of the journal: a file that is lost cannot say so itself. */
interface Birth {
  /** When it was begun, ISO 8601. */
  readonly since: string | undefined;
  note(at: string): Promise<void>;
}

/** An empty journal is not taken for new where one was begun before. @throws DamagedError. */
function checkBirth(file: string, birth: Birth | undefined): void {
  if (birth?.since !== undefined || readSeal(sealOf(file))) throw lostJournal(file, birth?.since);
}

/** Notes elsewhere that a journal is begun, once for a process. */
export class BirthNote {
  readonly #birth: Birth | undefined;
  #noted: Promise<void> | undefined;

  constructor(birth: Birth | undefined) {
    this.#birth = birth;
  }

  /** Where it cannot be noted the journal is no worse than before, and the next intent tries again. */
  note(at: string): Promise<void> {
    this.#noted ??= this.#note(at).catch((error: unknown) => {
      this.#noted = undefined;
      if (!(error instanceof ErrandError)) throw error;
    });
    return this.#noted;
  }

  async #note(at: string): Promise<void> {
    if (this.#birth && this.#birth.since === undefined) await this.#birth.note(at);
  }
}

/** Where a journal stood an empty file stands now, or none. */
const lostJournal = (file: string, since: string | undefined): DamagedError =>
  new DamagedError(
    `${file} is empty or gone${since === undefined ? '' : `, and a journal was begun there at ${since}`}`,
    {
      hint: 'An earlier command may have placed an order. If you have a copy of the journal, restore it.',
      next: [
        { command: 'errand order list', when: 'to see what was ordered' },
        { command: 'errand order journal repair', when: 'to begin a new one' },
      ],
    },
  );
