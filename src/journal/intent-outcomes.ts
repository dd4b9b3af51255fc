import { ErrandError, StorageError } from '../platform/errors.ts';
import type { Database } from '../platform/sqlite/database.ts';
import type { Attempts, IntentEnd } from './attempts.ts';
import type { Grants, StoredGrant } from './grants.ts';
import type { ConfirmedIntent, IntentEnds } from './intent-ends.ts';
import { ownerOf } from './intent-row.ts';
import type { IntentTable } from './intents.ts';
import { type RunIntent, RunIntents } from './intents.ts';
import type { IntentState, RejectionReason, Signer } from './journal-record.ts';
import type { MachineSealer } from './mac.ts';
import { isSelf } from './owner.ts';
import type { LocalFallback } from './postgres/local-fallback.ts';
import type { Missed } from './postgres/spool.ts';
import { MadeTwiceError, type RecordResult, takenOver } from './record-result.ts';
import type { Signers } from './signers.ts';

/** Components needed to record an intent's result. */
export interface OutcomeParts {
  readonly database: Database;
  readonly table: IntentTable;
  readonly ends: IntentEnds;
  readonly grants: Grants;
  /** Encrypts payment credentials. */
  readonly sealer: MachineSealer;
  readonly attempts: Attempts;
  /** This machine's local store that accompanies a shared journal; undefined for a local journal. */
  readonly localFallback: LocalFallback | undefined;
  readonly signers: Signers;
}

/** The part of a journal that is used after a request was sent. Records the results of intents. */
export class IntentOutcomes {
  readonly grants: Grants;
  /** Intents that this process has recorded but not yet reported. */
  readonly run = new RunIntents();
  protected readonly database: Database;
  protected readonly table: IntentTable;
  protected readonly localFallback: LocalFallback | undefined;
  protected readonly attemptStore: Attempts;
  /** Keys of the attempts that this process has persisted in a shared database. */
  protected readonly claimed = new Set<string>();
  /** Signs what intents end with. */
  readonly signers: Signers;
  readonly #ends: IntentEnds;
  readonly #sealer: MachineSealer;

  constructor({ database, table, ends, grants, sealer, attempts, localFallback, signers }: OutcomeParts) {
    this.database = database;
    this.table = table;
    this.grants = grants;
    this.localFallback = localFallback;
    this.attemptStore = attempts;
    this.#ends = ends;
    this.#sealer = sealer;
    this.signers = signers;
  }

  /** Whether other machines may work on the records of this journal. */
  get isShared(): boolean {
    return this.localFallback !== undefined;
  }

  /**
   * Records that the service executed an intent. `grant` belongs to an order paid by challenge.
   * @param madeAt is by the service's clock, in ms since the epoch.
   * @throws MadeTwiceError; StorageError if the result cannot be persisted anywhere.
   */
  async respond(
    key: string,
    baseUrl: string,
    madeId: string,
    grant?: StoredGrant,
    madeAt?: number,
  ): Promise<RecordResult> {
    this.run.respond({ key, baseUrl }, madeId);
    if (grant) this.grants.remember(madeId, baseUrl, grant);
    let other: string | undefined;
    const signer = await this.#signerOf({ key, baseUrl });
    const result = await this.#recordResult(
      { key, baseUrl, kind: 'made', madeId, grant, isReported: false },
      () => {
        other = this.#ends.respond(key, baseUrl, madeId, { grant, madeAt, signer });
        return 'booked';
      },
    );
    if (other !== undefined) throw new MadeTwiceError(key, other, madeId);
    await this.#followed({ key, baseUrl }, { state: 'placed', orderId: madeId, madeAt });
    return result;
  }

  /**
   * Records that the user knows these results. Not fsynced, because if the record is lost, the results are only
   * reported twice.
   * @throws StorageError.
   */
  async report(intents: readonly RunIntent[]): Promise<void> {
    const known = intents.filter((intent) => !this.localFallback?.follows(intent));
    const later = new Set(intents.filter((intent) => !known.includes(intent)));
    try {
      if (known.length > 0) await this.database.unsyncedTransaction(() => this.#ends.report(known));
    } catch (error) {
      if (!this.localFallback || !(error instanceof ErrandError)) throw error;
      for (const intent of known) later.add(intent);
    }
    for (const { key, baseUrl, madeId } of later)
      if (madeId !== undefined) {
        const grant = this.grants.of(madeId, baseUrl);
        this.localFallback?.save({ key, baseUrl, kind: 'made', madeId, grant, isReported: true });
      }
    for (const intent of intents) this.run.drop(intent);
  }

  /**
   * Persists the payment credential of an intent in doubt before the credential is sent.
   * @throws ErrandError conflict if the intent was taken over; StorageError.
   */
  async saveCredential(key: string, baseUrl: string, credential: string): Promise<void> {
    const sealed = this.#sealer.seal(credential, credentialOwner(key, baseUrl));
    await this.database.transaction(() => this.#ends.saveCredential(key, baseUrl, sealed));
  }

  /** Persists the grant of an order paid for earlier. @throws StorageError. */
  async saveGrant(orderId: string, baseUrl: string, grant: StoredGrant): Promise<void> {
    this.grants.remember(orderId, baseUrl, grant);
    try {
      await this.grants.save(orderId, baseUrl, grant);
    } catch (error) {
      // The grant is persisted together with the order. Both reach the shared journal once it is available.
      if (!this.localFallback || !(error instanceof StorageError)) throw error;
    }
  }

  /**
   * Payment credential of an intent in doubt; undefined if nothing was paid yet.
   * @throws StorageError, also if another machine stored the credential.
   */
  credentialOf(key: string, baseUrl: string): string | undefined {
    const stored = this.table.credentialOf(key, baseUrl);
    if (stored === undefined) return undefined;
    const credential = this.#sealer.open(stored, credentialOwner(key, baseUrl));
    if (credential !== undefined) return credential;
    throw new StorageError(`the payment of ${key} can be read by the machine that made it alone`, {
      outcome: 'unknown',
      idempotencyKey: key,
    });
  }

  /**
   * Records that the service certainly did not execute an intent. If a result was recorded meanwhile, that result
   * stays.
   * @throws StorageError.
   */
  async refuse(key: string, baseUrl: string, reason: RejectionReason): Promise<RecordResult> {
    this.run.drop({ key, baseUrl });
    const row = this.localFallback && this.table.find(key, baseUrl);
    const isOwn = row && isSelf(ownerOf(row));
    // If another process owns the record, recording the refusal would end that process's work.
    if (row?.state === ('intended' satisfies IntentState) && !isOwn) return 'taken';
    const end = isOwn && {
      since: String(row.created_at),
      pid: Number(row.pid),
      started: String(row.process_started),
    };
    const signer = await this.#signerOf({ key, baseUrl });
    const result = await this.#recordResult(
      end ? { key, baseUrl, kind: 'ended', ...reason, ...end } : undefined,
      () => this.#ends.refuse(key, baseUrl, reason, signer),
    );
    if (result === 'booked') await this.#followed({ key, baseUrl }, { state: 'failed' });
    return result;
  }

  /** Records that an attempt got no conclusive response. The intent stays unchanged. @throws StorageError. */
  async leaveInDoubt(key: string, baseUrl: string, code: string): Promise<void> {
    await this.database.transaction(() => this.#ends.leaveInDoubt(key, baseUrl, code));
  }

  /**
   * Records that the user gives up the intent. The user must then find out whether the intent placed an order.
   * @throws StorageError.
   */
  async forget(key: string, baseUrl: string): Promise<void> {
    this.run.drop({ key, baseUrl });
    const signer = await this.#signerOf({ key, baseUrl });
    await this.database.transaction(() => this.#ends.forget(key, baseUrl, signer));
    await this.#followed({ key, baseUrl }, { state: 'unknown' });
  }

  /**
   * Records what the service shows about an intent whose end nothing proves.
   * @param madeId is undefined if the service has made nothing from the intent.
   * @throws StorageError.
   */
  async confirm(intent: ConfirmedIntent, madeId: string | undefined, signer: Signer): Promise<void> {
    await this.database.transaction(() => this.#ends.confirm(intent, madeId, signer));
  }

  /**
   * Releases an intent that this process left in doubt, so that another process may settle it while this process
   * continues to run. @throws StorageError.
   */
  async letGo(key: string, baseUrl: string): Promise<void> {
    this.run.drop({ key, baseUrl });
    if (this.localFallback?.follows({ key, baseUrl })) return;
    await this.database.transaction(() => this.#ends.letGo(key, baseUrl));
  }

  /**
   * Ensures that this process owns a record for as long as a request for the record may take.
   * @param renews tells whether to renew the lease even if time is left.
   * @returns the remaining lease in ms; undefined if the record's ownership does not expire.
   * @throws ErrandError conflict if another process has taken over the record; StorageError if the owner cannot be
   * determined. In both cases nothing may be sent.
   */
  async hold(key: string, baseUrl: string, renews = false): Promise<number | undefined> {
    const { localFallback } = this;
    if (!localFallback) return undefined;
    if (renews || !localFallback.holdsLong) {
      const isOwn = await this.database.transaction(() => {
        localFallback.renew();
        return this.#ends.isOwn(key, baseUrl);
      });
      if (!isOwn) throw takenOver(key);
    }
    return localFallback.leftMs;
  }

  /**
   * Applies results that the database has missed, right after the journal was opened. Results that cannot be applied
   * now stay pending and block new records.
   */
  protected async catchUp(): Promise<void> {
    try {
      await this.bringIn();
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
    }
  }

  /**
   * Applies results that the database has missed. Call before anything new is recorded.
   * @throws ErrandError conflict while this machine's own journal has open records; StorageError.
   */
  async ready(): Promise<void> {
    await this.bringIn();
    await this.localFallback?.checkOwnJournal();
  }

  /**
   * For a shared journal, resolves once the database has received every result of this machine that it had missed.
   * @throws StorageError.
   */
  async bringIn(): Promise<void> {
    await this.localFallback?.bringIn(this.#ends, (intent) => this.#signerOf(intent));
  }

  /**
   * For a shared journal, updates the attempt of an intent with the intent's result. A failed update is harmless,
   * because the attempt's state is derived from the journal later.
   */
  async #followed({ key, baseUrl }: Pick<RunIntent, 'key' | 'baseUrl'>, end: IntentEnd): Promise<void> {
    if (!this.localFallback || !this.claimed.has(key)) return;
    try {
      await this.attemptStore.follow(baseUrl, key, end);
    } catch (error) {
      if (!(error instanceof ErrandError)) throw error;
    }
  }

  /**
   * Finds the signer of the entry that ends an intent: the key of the account that sent the intent, or else another key
   * that is available.
   */
  async #signerOf({ key, baseUrl }: Pick<RunIntent, 'key' | 'baseUrl'>): Promise<Signer | undefined> {
    const row = this.table.find(key, baseUrl);
    return row && this.signers.of(String(row.account));
  }

  /** Persists a result. If a shared database does not accept the result, keeps it on this machine. */
  async #recordResult(
    missed: Missed | undefined,
    work: () => Exclude<RecordResult, 'follows'>,
  ): Promise<RecordResult> {
    try {
      return await this.database.transaction(work);
    } catch (error) {
      if (!this.localFallback || !missed || !(error instanceof ErrandError)) throw error;
      this.localFallback.save(missed);
      return 'follows';
    }
  }
}

const credentialOwner = (key: string, baseUrl: string): string =>
  JSON.stringify(['credential', baseUrl, key]);
