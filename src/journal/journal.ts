import { copyFolder, type Sharing } from '../format/database-address.ts';
import { DamagedError, ErrandError, StorageError, UsageError, unread } from '../platform/errors.ts';
import type { Database, Freshness } from '../platform/sqlite/database.ts';
import { AttemptTable, LocalAttempts } from './attempt-table.ts';
import {
  type AttemptClaim,
  type Attempts,
  attemptRetentionMs,
  OutdatedClaim,
  Overtaken,
} from './attempts.ts';
import { AuditChain, intentEntry, stepEntry } from './audit.ts';
import { type AuditOrigin, nobody } from './audit-entry.ts';
import { contentHash } from './content.ts';
import { type OpenOptions, openStateDatabase } from './database.ts';
import { Grants } from './grants.ts';
import { damagedAdvice, readRecordCount, recordCountFileOf, writeRecordCount } from './integrity.ts';
import { IntentEnds } from './intent-ends.ts';
import { IntentOutcomes } from './intent-outcomes.ts';
import { isAdmitted } from './intent-proof.ts';
import { type IntentRow, intactRecord, isIntact, newIntent, recordOf, withChecksum } from './intent-row.ts';
import { IntentTable, isSweepDue } from './intents.ts';
import { addressSalt, readFact } from './journal-facts.ts';
import type { Intent, IntentState, JournalRecord, Sender } from './journal-record.ts';
import { journalFile, journalIndexes, journalMigrations } from './journal-tables.ts';
import { lostIntents, storyKinds } from './lost-intents.ts';
import { MachineSealer } from './mac.ts';
import { isSelf, self } from './owner.ts';
import type { LocalFallback } from './postgres/local-fallback.ts';
import { Quotes } from './quotes.ts';
import { Reservations, type Reserving } from './reservations.ts';
import { Reverting } from './reverting.ts';
import { type FindSigner, Signers } from './signers.ts';
import { checkFree, checkReuse, isOthers, mayHaveMade } from './take-over.ts';
import { firstTwin, isMadeByKey, type Twin, type TwinRule } from './twins.ts';

/**
 * The money journal. Keeps each request through timeouts, crashes and reboots until the user has seen its outcome. A
 * record is durable once `record` resolves. From then on, either a live process owns the record, or any process may
 * resume it. Safe for concurrent processes.
 */
export class Journal extends IntentOutcomes {
  readonly audit: AuditChain;
  readonly reservations: Reservations;
  readonly quotes: Quotes;
  readonly reverting: Reverting;
  readonly #closeAttempts: () => void;
  readonly #now: () => number;
  readonly #recordCountFile: string;
  readonly #recentMs: number;
  readonly #creationMarker: CreationMarkerWriter;

  private constructor(
    { database, localFallback, attempts }: Opened,
    folder: string,
    now: () => number,
    options: JournalOptions,
  ) {
    const { recentMs = 0, creationMarker, origin = () => nobody, signer } = options;
    const table = new IntentTable(database);
    const audit = new AuditChain(database, now, origin);
    const sealer = new MachineSealer(folder);
    const grants = new Grants(database, now, sealer);
    const signers = new Signers(signer);
    const signing = { isShared: localFallback !== undefined, signers };
    const reservations = new Reservations(database, table, audit, now, signing);
    const local = new AttemptTable(database);
    const parts = { table, audit, grants, reservations, attempts: localFallback ? undefined : local };
    const ends = new IntentEnds(parts, now);
    const attemptStore = attempts ?? new LocalAttempts(database);
    super({ ...{ database, table, ends, grants, sealer, localFallback, signers }, attempts: attemptStore });
    this.#closeAttempts = () => attempts?.close();
    this.#recentMs = Math.max(recentMs, minRecentMs);
    // The local copy of a shared database may be lost at any time, so it needs no creation marker.
    this.#creationMarker = new CreationMarkerWriter(options.shared ? undefined : creationMarker);
    this.audit = audit;
    this.reservations = reservations;
    this.quotes = new Quotes(database, audit, now);
    this.reverting = new Reverting({ database, table, audit, attempts: attemptStore, signers, now });
    this.#now = now;
    this.#recordCountFile = recordCountFileOf(database.file);
  }

  /** @throws StorageError if the journal is not writable; nothing may be sent then. */
  static async open(folder: string, now: () => number, options: JournalOptions = {}): Promise<Journal> {
    const journal = new Journal(await openJournalDatabase(folder, options), folder, now, options);
    try {
      await journal.catchUp();
      return journal;
    } catch (error) {
      await journal.close();
      throw error;
    }
  }

  /**
   * Persists an intent before it is sent. If the intent's key is already in doubt with the same content, takes over
   * that record.
   * @param rule is undefined if a duplicate is intended.
   * @param reserving holds the money that the intent may spend.
   * @param claim decides about the intent's needs. If `claim` returns no attempt for one of them, nothing is persisted
   * and the result is `isOvertaken`.
   * @throws the denial if `reserving` refuses; ErrandError conflict if the key is in use by a live process, by other
   * content or by another account, or if the order would be paid for twice; StorageError if the journal fails
   * verification.
   */
  async record(
    intent: Intent,
    rule?: TwinRule,
    reserving?: Reserving,
    claim?: AttemptClaim,
  ): Promise<Recorded> {
    for (let tries = 1; ; tries += 1)
      try {
        const persist = claim && (await this.attemptStore.prepare(claim));
        const recorded = await this.#record(intent, rule, reserving, persist);
        if (claim && this.isShared && recorded.mayBeSent !== undefined) this.claimed.add(intent.key);
        return recorded;
      } catch (error) {
        if (error instanceof OutdatedClaim && tries < maxTries) continue;
        if (error instanceof Overtaken) return { isOvertaken: true };
        throw error instanceof OutdatedClaim ? contended(error) : error;
      }
  }

  async #record(
    intent: Intent,
    rule: TwinRule | undefined,
    reserving: Reserving | undefined,
    persistAttempts: (() => void) | undefined,
  ): Promise<Persisted> {
    this.signers.add(intent);
    await this.ready();
    if (reserving) await this.reservations.prepare(reserving);
    const recordCount = readRecordCount(this.#recordCountFile);
    const hash = contentHash(intent.operation, intent.body);
    // Set this only for a first attempt, because a record that an earlier attempt left stays in doubt.
    let fresh: IntentRow | undefined;
    const work = (): Persisted & { readonly count?: number } => {
      this.table.tally.check(recordCount);
      const before = this.table.find(intent.key, intent.baseUrl);
      const earlier = withRecord(before);
      if (earlier) checkReuse(intent, hash, earlier);
      // Another process may have used the same key first.
      if (earlier && isMadeByKey(earlier, intent))
        return { duplicate: { situation: 'made', record: earlier } };
      const duplicate = rule && this.#acquireDuplicate(intent, hash, rule);
      if (duplicate) return { duplicate };
      persistAttempts?.();
      this.reservations.policies.checkCurrent();
      this.quotes.use(intent, earlier);
      const now = this.#now();
      const isAgain = before?.state === ('intended' satisfies IntentState);
      const claimed = reserving && this.#reserve(reserving, intent, isAgain ? recordOf(before) : undefined);
      // The service measures a key's lifetime from its first use.
      const since = earliest(isoOf(now), claimed?.keySince, isAgain ? String(before.created_at) : undefined);
      const row = newIntent(intent, hash, self(this.database.lease), since);
      this.table.write(row, before);
      const count = this.table.tally.next();
      const salt = addressSalt(this.database, this.table.tally);
      const policy = reserving?.policy?.hash ?? null;
      const signsEnds = intent.mac !== undefined && this.isShared;
      const { reserved } = claimed ?? {};
      const terms = { again: isAgain, salt, policy, signsEnds, reserved };
      this.audit.append(intentEntry(intent, hash, count, terms), intent.mac);
      this.table.sweep(count, now, now - this.#recentMs);
      const mayBeSent = earlier !== undefined && mayHaveMade(earlier, intent);
      fresh = mayBeSent ? undefined : row;
      return { mayBeSent, count };
    };
    const recorded = await this.database.transaction(work).catch((error: unknown) => {
      throw this.localFallback?.notRecorded(error, fresh) ?? error;
    });
    if (recorded.duplicate) return this.#logged(recorded.duplicate);
    writeRecordCount(this.#recordCountFile, recorded.count ?? 0);
    if (isSweepDue(recorded.count ?? 0)) await this.#sweepAttempts();
    await this.#creationMarker.note(isoOf(this.#now()));
    this.run.note({ ...intent, contentHash: hash });
    return { mayBeSent: recorded.mayBeSent };
  }

  /** A failure is harmless, because a later sweep deletes the same attempts. */
  async #sweepAttempts(): Promise<void> {
    try {
      await this.attemptStore.sweep(this.#now() - attemptRetentionMs);
    } catch (error) {
      if (!(error instanceof ErrandError)) throw error;
    }
  }

  /**
   * Finds an earlier record of the same intent. Does not take over the record.
   * @throws StorageError.
   */
  peekDuplicate(intent: Intent, rule: TwinRule): Twin | undefined {
    this.table.tally.check(readRecordCount(this.#recordCountFile));
    const duplicate = this.#findDuplicate(intent, contentHash(intent.operation, intent.body), rule);
    return duplicate && { situation: duplicate.situation, record: recordOf(duplicate.row) };
  }

  /**
   * Records at the same service with the same content that are in doubt or unreported, or were reported recently.
   * @throws StorageError.
   */
  sameContent(intent: Intent): JournalRecord[] {
    this.table.tally.check(readRecordCount(this.#recordCountFile));
    const hash = contentHash(intent.operation, intent.body);
    return this.table
      .duplicates(intent, hash)
      .map(recordOf)
      .filter(({ state, body_hash }) => state === 'damaged' || body_hash === hash);
  }

  /** Records of the same key at other services. @throws StorageError. */
  elsewhere = (key: string, baseUrl: string): JournalRecord[] =>
    this.table.elsewhere(key, baseUrl).map(recordOf);

  /** Number of intents recorded according to the journal's own count, and how many of them predate the audit chain. */
  recorded(): { readonly all: number; readonly beforeChain: number } {
    return {
      all: this.table.tally.count(),
      beforeChain: Number(readFact(this.database, 'chain_from') ?? 0),
    };
  }

  /**
   * Reads and verifies the entire journal, because recording an order may need any of its pages.
   * @throws DamagedError if the journal is corrupt; StorageError.
   */
  async checkWhole(): Promise<void> {
    const found = this.database.get('PRAGMA integrity_check(1)')?.integrity_check;
    if (found !== 'ok')
      throw this.table.tally.damaged('parts of it cannot be read, or contradict each other');
    this.list(true);
    this.table.checkTexts();
    this.reservations.since(0);
    (await this.reservations.approvals()).list();
    const [wrong] = this.isShared ? [] : this.reservations.sumProblems();
    if (wrong !== undefined) throw this.table.tally.damaged(wrong);
  }

  /** The record with the given key, in any state. */
  find = (key: string, baseUrl: string) => withRecord(this.table.find(key, baseUrl));

  /**
   * Finds an earlier record of an intent that cannot be recorded now.
   * @param withDuplicates tells whether to also find records that have the same content under another key. It is false
   * if a duplicate is intended.
   * @throws StorageError.
   */
  earlier(intent: Intent, withDuplicates: boolean): JournalRecord | undefined {
    const hash = contentHash(intent.operation, intent.body);
    const duplicates = withDuplicates ? this.table.duplicates(intent, hash) : [];
    return [this.find(intent.key, intent.baseUrl), ...duplicates.map(recordOf)].find(
      (record) => record && record.state !== 'refused' && record.state !== 'forgotten',
    );
  }

  /** Adds a responded record to the intents this run has to report. */
  recall(record: JournalRecord): void {
    if (record.state === 'responded') this.#logged({ situation: 'unreported', record });
  }

  /** The record from which an order or a batch was made. */
  madeBy(id: string, baseUrl: string): JournalRecord | undefined {
    for (const row of this.table.madeBy(id, baseUrl)) {
      const record = intactRecord(row);
      if (record) return record;
    }
    return undefined;
  }

  /**
   * Another key whose record created the same order. This is possible because a service may have several base URLs.
   * @param baseUrl restricts the search to records of that URL; undefined for any.
   */
  otherKeyOf(id: string, key: string, baseUrl?: string): string | undefined {
    return this.table
      .madeAnywhere(id)
      .filter((row) => isIntact(row) && (baseUrl === undefined || row.base_url === baseUrl))
      .map((row) => recordOf(row).key)
      .find((other) => other !== key);
  }

  /**
   * Lists the records whose outcome the user has not seen, oldest first; with `all`, lists every stored record.
   * @throws StorageError.
   */
  list(all = false): JournalRecord[] {
    this.table.tally.check(readRecordCount(this.#recordCountFile));
    return (all ? this.table.all() : this.table.unfinished()).map((row) => this.#asKnown(recordOf(row)));
  }

  /** Marks a record as responded if this machine knows the result before the shared database does. */
  #asKnown(record: JournalRecord): JournalRecord {
    const madeId = this.localFallback?.madeId({ key: record.key, baseUrl: record.base_url });
    return madeId === undefined || record.order_id !== null
      ? record
      : { ...record, state: 'responded', order_id: madeId };
  }

  /** Keys recorded for a service since a time (ISO 8601), newest first. @throws StorageError. */
  keysSince = (baseUrl: string, since: string): string[] => this.table.keysSince(baseUrl, since);

  /**
   * For a shared journal, the records of this machine's own journal that are in doubt or unreported.
   * @throws StorageError.
   */
  openInOwn = async (): Promise<readonly JournalRecord[]> => (await this.localFallback?.openInOwn()) ?? [];

  /**
   * Requests that the audit chain of a shared journal has in doubt and whose records are gone.
   * @throws StorageError.
   */
  lost(): readonly Pick<JournalRecord, 'key' | 'created_at'>[] {
    if (!this.isShared) return [];
    return lostIntents(this.audit.ofKinds(storyKinds), this.table.all(), '').inDoubt.map(recordOf);
  }

  /**
   * Records left by interrupted commands that must still be reported to the user.
   * @throws StorageError.
   */
  unfinished(): {
    readonly inDoubt: readonly JournalRecord[];
    readonly unreported: readonly JournalRecord[];
  } {
    const free = this.list().filter((record) => !isOthers(record));
    return {
      inDoubt: free.filter(({ state }) => state !== 'responded'),
      unreported: free.filter(
        ({ state, pid, process_started: started }) => state === 'responded' && !isSelf({ pid, started }),
      ),
    };
  }

  /**
   * Finds a record by its key, or by a prefix that only one key has. If several services have a matching record,
   * prefers the one at `baseUrl`.
   * @throws ErrandError not_found, UsageError.
   */
  get(key: string, baseUrl: string): JournalRecord {
    return pickRecord(this.table.named(key).map(recordOf), key, baseUrl);
  }

  /**
   * Takes over a record in order to resume or close it. Does not change a record that has ended since it was read.
   * @returns the current record.
   * @throws ErrandError conflict if a live process owns the record.
   */
  async claim(read: JournalRecord, isToSettle = true): Promise<JournalRecord> {
    const record = await this.database.transaction(() => {
      const row = this.table.find(read.key, read.base_url);
      if (!row || !isIntact(row)) return withRecord(row) ?? read;
      if (!isUnfinished(row)) return recordOf(row);
      checkFree(recordOf(row));
      return this.#take(row, isToSettle);
    });
    return isUnfinished(record) ? this.#logged({ situation: 'in_doubt', record }).duplicate.record : record;
  }

  /**
   * For a shared journal, pulls the writes of other machines.
   * @throws StorageError.
   */
  refresh(when?: Freshness): Promise<void> {
    return this.database.refresh(when);
  }

  /** The attempts of all needs, including those imported from older records. @throws StorageError. */
  async attempts(): Promise<Attempts> {
    if (!(await this.attemptStore.isComplete())) {
      const { earlierAttempts } = await import('./earlier-attempts.ts');
      await this.attemptStore.bringIn(() => earlierAttempts(this.table.all()));
    }
    return this.attemptStore;
  }

  close(): void | Promise<void> {
    this.localFallback?.close();
    this.#closeAttempts();
    return this.database.close();
  }

  /** @param again is the record in doubt whose request is being sent again. */
  #reserve(reserving: Reserving, sender: Sender, again: JournalRecord | undefined) {
    const isForced = again !== undefined && isAdmitted(this, sender, again, reserving);
    return this.reservations.claim(reserving, isForced);
  }

  /** Finds an earlier record of the same intent. Takes over the record unless a live process owns it. */
  #acquireDuplicate(intent: Intent, hash: string, rule: TwinRule): Twin | undefined {
    const duplicate = this.#findDuplicate(intent, hash, rule);
    if (!duplicate) return undefined;
    const { row, situation } = duplicate;
    const isTaken = situation === 'in_doubt' || situation === 'unreported';
    return { situation, record: isTaken ? this.#take(row) : recordOf(row) };
  }

  #findDuplicate = (intent: Intent, hash: string, rule: TwinRule) =>
    firstTwin(this.table.duplicates(intent, hash), intent, hash, rule);

  #take(row: IntentRow, isToSettle = true): JournalRecord {
    const { pid, started } = self(this.database.lease);
    if (isToSettle && row.state === ('intended' satisfies IntentState))
      this.audit.append(stepEntry('resumed', row));
    const taken = withChecksum({ ...row, pid, process_started: started });
    this.table.write(taken, row);
    return recordOf(taken);
  }

  #logged(duplicate: Twin): { readonly duplicate: Twin } {
    const { situation, record } = duplicate;
    if (situation === 'in_doubt' || situation === 'unreported')
      this.run.note(
        { ...record, baseUrl: record.base_url, contentHash: record.body_hash },
        record.order_id ?? undefined,
      );
    return { duplicate };
  }
}

const isUnfinished = ({ state }: { readonly state?: unknown }): boolean =>
  state === 'intended' || state === 'responded';
const withRecord = (row: IntentRow | undefined): JournalRecord | undefined => row && recordOf(row);
const isoOf = (ms: number): string => new Date(ms).toISOString();
/** The earliest of the given ISO 8601 times. */
const earliest = (time: string, ...others: readonly (string | undefined)[]): string =>
  others.reduce<string>(
    (first, other) => (other !== undefined && Date.parse(other) < Date.parse(first) ? other : first),
    time,
  );

/** An opened journal's stores. */
interface Opened {
  readonly database: Database;
  /** Like `attempts`, set only for a shared journal. */
  readonly localFallback?: LocalFallback;
  readonly attempts?: Attempts & { close(): void };
}

/**
 * Opens the journal's database: a local file, or a shared database together with its `LocalFallback` and its attempts.
 * @throws StorageError.
 */
export async function openJournalDatabase(
  folder: string,
  { creationMarker, shared, waiting, warn }: JournalOptions,
): Promise<Opened> {
  const opening = { damagedAdvice, knowsOrders: true, indexes: journalIndexes };
  const options = { ...(waiting && { waiting }), ...(warn && { warn }), ...opening };
  if (!shared) {
    const file = journalFile(folder);
    const beforeFirst = (): void => checkCreationMarker(file, creationMarker);
    return { database: await openOwn(file, { ...options, beforeFirst }) };
  }
  const { openShared } = await import('./postgres/open.ts');
  const { LocalFallback } = await import('./postgres/local-fallback.ts');
  const file = journalFile(copyFolder(folder, shared.address));
  const { SharedAttempts } = await import('./postgres/attempts.ts');
  const database = await openShared(file, journalMigrations, 'journal', shared, options);
  const attempts = new SharedAttempts(shared.address, database, waiting?.signal);
  return { database, attempts, localFallback: new LocalFallback(database, folder, shared, options) };
}

/** Opens the local file. If another process holds a lock on the file, it cannot be read either. */
async function openOwn(file: string, options: OpenOptions): Promise<Database> {
  try {
    return await openStateDatabase(file, journalMigrations, options);
  } catch (error) {
    throw error instanceof StorageError && error.facts.outcome === 'not_sent' ? unread(error) : error;
  }
}

/**
 * Picks the record that a key or key prefix identifies. If several services have a matching record, prefers the one at
 * `baseUrl`.
 * @throws ErrandError not_found, UsageError.
 */
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
  /** How far back to look for reported duplicates, in ms. */
  readonly recentMs?: number | undefined;
  readonly creationMarker?: CreationMarker;
  /** The actor to record in the audit chain. */
  readonly origin?: () => AuditOrigin;
  /** Finds the signer of an account. */
  readonly signer?: FindSigner;
  /** The shared database that holds the journal, if any. */
  readonly shared?: Sharing | undefined;
}

/** `mayBeSent`: an earlier process may already have sent the intent. */
type Persisted =
  | { readonly duplicate: Twin; readonly isOvertaken?: never; readonly mayBeSent?: never }
  | { readonly duplicate?: never; readonly isOvertaken?: never; readonly mayBeSent: boolean };

type Recorded =
  | Persisted
  | { readonly duplicate?: never; readonly isOvertaken: true; readonly mayBeSent?: never };

/** The error if the attempts at a need keep changing. Deciding again would go on for as long as they do. */
const contended = (cause: unknown): ErrandError =>
  new ErrandError('conflict', 'other commands keep ordering what this one orders; nothing was sent', {
    ...{ code: 'overtaken', outcome: 'not_sent', retryable: true, cause },
    hint: 'Wait for them to end. The same command again then says what is left.',
  });

/**
 * Maximum number of times that one need is decided about while other processes keep changing its attempts. Each order
 * that another process places for the need changes them a few times.
 */
const maxTries = 200;

/** Minimum time, in ms, for which a reported record counts as recent. */
const minRecentMs = 3600 * 1000;

/**
 * A marker that the journal exists. It is stored outside the journal, so that errand notices if the journal's file is
 * lost.
 */
interface CreationMarker {
  /** When the journal was created, ISO 8601. */
  readonly since: string | undefined;
  note(at: string): Promise<void>;
}

/** Rejects an empty journal if the marker or the record count says that a journal existed. @throws DamagedError. */
function checkCreationMarker(file: string, creationMarker: CreationMarker | undefined): void {
  if (creationMarker?.since !== undefined || readRecordCount(recordCountFileOf(file)))
    throw lostJournal(file, creationMarker?.since);
}

/** Records outside the journal that the journal exists, once per process. */
export class CreationMarkerWriter {
  readonly #creationMarker: CreationMarker | undefined;
  #logged: Promise<void> | undefined;

  constructor(creationMarker: CreationMarker | undefined) {
    this.#creationMarker = creationMarker;
  }

  /** A failure to write the marker is not fatal, because the next intent tries again. */
  note(at: string): Promise<void> {
    this.#logged ??= this.#note(at).catch((error: unknown) => {
      this.#logged = undefined;
      if (!(error instanceof ErrandError)) throw error;
    });
    return this.#logged;
  }

  async #note(at: string): Promise<void> {
    if (this.#creationMarker && this.#creationMarker.since === undefined) await this.#creationMarker.note(at);
  }
}

/** The journal's file is empty or gone, although it once held a journal. */
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
