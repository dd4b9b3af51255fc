import { ErrandError, StorageError } from '../platform/errors.ts';
import type { Database } from '../platform/sqlite/database.ts';
import type { Attempts, IntentEnd } from './attempts.ts';
import { type Booked, MadeTwiceError, takenOver } from './booked.ts';
import type { Grants, StoredGrant } from './grants.ts';
import type { IntentEnds, RefusalReason } from './intent-ends.ts';
import { ownerOf } from './intent-row.ts';
import type { IntentTable } from './intent-table.ts';
import type { IntentState } from './journal-record.ts';
import { isSelf } from './owner.ts';
import type { Beside } from './postgres/beside.ts';
import type { Missed } from './postgres/spool.ts';
import { type RunIntent, RunIntents } from './run-intents.ts';

/** What an intent's end is written with. */
export interface OutcomeParts {
  readonly database: Database;
  readonly table: IntentTable;
  readonly ends: IntentEnds;
  readonly grants: Grants;
  readonly attempts: Attempts;
  /** What this machine keeps beside a journal that machines share; undefined where it has one of its own. */
  readonly beside: Beside | undefined;
}

/** What becomes of intents that are recorded: the part of a journal that comes after the send. */
export class IntentOutcomes {
  readonly grants: Grants;
  /** What this process has recorded and not reported. */
  readonly run = new RunIntents();
  protected readonly database: Database;
  protected readonly table: IntentTable;
  protected readonly beside: Beside | undefined;
  protected readonly attemptStore: Attempts;
  /** Keys of the attempts that this process has written to a database that machines share. */
  protected readonly claimed = new Set<string>();
  readonly #ends: IntentEnds;

  constructor({ database, table, ends, grants, attempts, beside }: OutcomeParts) {
    this.database = database;
    this.table = table;
    this.grants = grants;
    this.beside = beside;
    this.attemptStore = attempts;
    this.#ends = ends;
  }

  /** Whether other machines may work on what is recorded here. */
  get isShared(): boolean {
    return this.beside !== undefined;
  }

  /**
   * The service has made something of an intent; `grant` is what an order paid by challenge came with.
   * @throws MadeTwiceError; StorageError where that is kept nowhere.
   */
  async respond(key: string, baseUrl: string, madeId: string, grant?: StoredGrant): Promise<Booked> {
    this.run.respond({ key, baseUrl }, madeId);
    if (grant) this.grants.remember(madeId, baseUrl, grant);
    let other: string | undefined;
    const booked = await this.#booked(
      { key, baseUrl, kind: 'made', madeId, grant, isReported: false },
      () => {
        other = this.#ends.respond(key, baseUrl, madeId, grant);
        return 'booked';
      },
    );
    if (other !== undefined) throw new MadeTwiceError(key, other, madeId);
    await this.#followed({ key, baseUrl }, { state: 'placed', orderId: madeId });
    return booked;
  }

  /**
   * The user knows what became of these. Not synced: where it is lost, they are reported twice.
   * @throws StorageError.
   */
  async report(intents: readonly RunIntent[]): Promise<void> {
    const known = intents.filter((intent) => !this.beside?.follows(intent));
    const later = new Set(intents.filter((intent) => !known.includes(intent)));
    try {
      if (known.length > 0) await this.database.derived(() => this.#ends.report(known));
    } catch (error) {
      if (!this.beside || !(error instanceof ErrandError)) throw error;
      for (const intent of known) later.add(intent);
    }
    for (const { key, baseUrl, madeId } of later)
      if (madeId !== undefined) {
        const grant = this.grants.of(madeId, baseUrl);
        this.beside?.keep({ key, baseUrl, kind: 'made', madeId, grant, isReported: true });
      }
    for (const intent of intents) this.run.drop(intent);
  }

  /** Keeps what pays for an intent in doubt, durably, before it is sent. @throws ErrandError conflict for one that was taken over; StorageError. */
  async keepCredential(key: string, baseUrl: string, credential: string): Promise<void> {
    await this.database.transaction(() => this.#ends.keepCredential(key, baseUrl, credential));
  }

  /** Keeps what an order came with that had been paid for before. @throws StorageError. */
  async keepGrant(orderId: string, baseUrl: string, grant: StoredGrant): Promise<void> {
    this.grants.remember(orderId, baseUrl, grant);
    try {
      await this.grants.keep(orderId, baseUrl, grant);
    } catch (error) {
      // It goes with the order, which a shared journal is told of once it is read.
      if (!this.beside || !(error instanceof StorageError)) throw error;
    }
  }

  /** What pays for an intent in doubt; undefined where nothing was paid yet. @throws StorageError. */
  credentialOf(key: string, baseUrl: string): string | undefined {
    return this.table.credentialOf(key, baseUrl);
  }

  /** The service surely has nothing of this intent. What it has made something of by now stays. @throws StorageError. */
  async refuse(key: string, baseUrl: string, reason: RefusalReason): Promise<Booked> {
    this.run.drop({ key, baseUrl });
    const row = this.beside && this.table.find(key, baseUrl);
    const isOwn = row && isSelf(ownerOf(row));
    // Kept with another's name, it would end what that one works on.
    if (row?.state === ('intended' satisfies IntentState) && !isOwn) return 'taken';
    const end = isOwn && {
      since: String(row.created_at),
      pid: Number(row.pid),
      started: String(row.process_started),
    };
    const booked = await this.#booked(
      end ? { key, baseUrl, kind: 'ended', ...reason, ...end } : undefined,
      () => this.#ends.refuse(key, baseUrl, reason),
    );
    if (booked === 'booked') await this.#followed({ key, baseUrl }, { state: 'failed' });
    return booked;
  }

  /** An attempt ended without a response that settles it: the intent stays as it is. @throws StorageError. */
  async leaveInDoubt(key: string, baseUrl: string, code: string): Promise<void> {
    await this.database.transaction(() => this.#ends.leaveInDoubt(key, baseUrl, code));
  }

  /** The user gives the intent up; whether an order came of it is theirs to know. @throws StorageError. */
  async forget(key: string, baseUrl: string): Promise<void> {
    this.run.drop({ key, baseUrl });
    await this.database.transaction(() => this.#ends.forget(key, baseUrl));
    await this.#followed({ key, baseUrl }, { state: 'unknown' });
  }

  /** A process that goes on is no longer at work on an intent that it left in doubt. @throws StorageError. */
  async letGo(key: string, baseUrl: string): Promise<void> {
    this.run.drop({ key, baseUrl });
    if (this.beside?.follows({ key, baseUrl })) return;
    await this.database.transaction(() => this.#ends.letGo(key, baseUrl));
  }

  /**
   * Makes sure that a record is this process's own for as long as a request for it may take. @param anew also where it is
   * still its own for a while.
   * @returns how long that is, ms; undefined where it does not end. @throws ErrandError conflict where another process has
   * taken it over; StorageError where that cannot be found out. Nothing may be sent then.
   */
  async hold(key: string, baseUrl: string, anew = false): Promise<number | undefined> {
    const { beside } = this;
    if (!beside) return undefined;
    if (anew || !beside.holdsLong) {
      const isOwn = await this.database.transaction(() => {
        beside.renew();
        return this.#ends.isOwn(key, baseUrl);
      });
      if (!isOwn) throw takenOver(key);
    }
    return beside.leftMs;
  }

  /** For a journal that was just opened. What cannot be brought in now stays, and keeps this process from recording. */
  protected async catchUp(): Promise<void> {
    try {
      await this.bringIn();
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
    }
  }

  /** Before anything more is recorded: brings in what was missed. @throws ErrandError conflict while this machine's own journal has something open; StorageError. */
  async ready(): Promise<void> {
    await this.bringIn();
    await this.beside?.checkOwnJournal();
  }

  /** Where machines share it: what the database has missed from here is in it when this resolves. @throws StorageError. */
  async bringIn(): Promise<void> {
    await this.beside?.bringIn(this.#ends);
  }

  /** Where machines share them: the attempt of an intent follows it. What is not written is found out from the journal later. */
  async #followed({ key, baseUrl }: Pick<RunIntent, 'key' | 'baseUrl'>, end: IntentEnd): Promise<void> {
    if (!this.beside || !this.claimed.has(key)) return;
    try {
      await this.attemptStore.follow(baseUrl, key, end);
    } catch (error) {
      if (!(error instanceof ErrandError)) throw error;
    }
  }

  /** Writes an end down; what a shared database does not take is kept on this machine. */
  async #booked(missed: Missed | undefined, work: () => Exclude<Booked, 'follows'>): Promise<Booked> {
    try {
      return await this.database.transaction(work);
    } catch (error) {
      if (!this.beside || !missed || !(error instanceof ErrandError)) throw error;
      this.beside.keep(missed);
      return 'follows';
    }
  }
}
