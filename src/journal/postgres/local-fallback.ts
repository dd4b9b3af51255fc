import type { Sharing } from '../../format/database-address.ts';
import { InTurn } from '../../platform/async.ts';
import { StorageError } from '../../platform/errors.ts';
import { mayBeThere, type Warn } from '../../platform/private-files.ts';
import type { OpenOptions } from '../database.ts';
import type { IntentEnds } from '../intent-ends.ts';
import type { IntentRow } from '../intent-row.ts';
import type { JournalRecord, Signer } from '../journal-record.ts';
import { journalFile } from '../journal-tables.ts';
import { isUnsettled } from '../record-result.ts';
import type { SharedDatabase } from './database.ts';
import { OwnJournal, openRecords } from './own-journal.ts';
import { type Missed, type PendingResult, Spool } from './spool.ts';

/** Before a request is sent, at least this fraction of the longest request time must remain on the lease. */
const enough = 0.8;

/**
 * What a machine stores locally in addition to a shared journal: results that the database has missed (the spool), and
 * the machine's own earlier journal.
 */
export class LocalFallback {
  readonly #database: SharedDatabase;
  readonly #folder: string;
  readonly #sharing: Sharing;
  readonly #options: OpenOptions;
  readonly #spool: Spool;
  readonly #warn: Warn;
  readonly #following = new Map<string, string>();
  #own: OwnJournal | undefined;
  #mayHavePending = true;
  readonly #inTurn = new InTurn();

  /** @param folder this machine's state folder. */
  constructor(database: SharedDatabase, folder: string, sharing: Sharing, options: OpenOptions) {
    const { warn = () => {} } = options;
    this.#database = database;
    this.#folder = folder;
    this.#sharing = sharing;
    this.#options = options;
    this.#warn = warn;
    this.#spool = new Spool(folder, database.id, warn);
  }

  /** Spools a result that the database did not take. @throws StorageError. */
  save(missed: Missed): void {
    this.#mayHavePending = true;
    this.#spool.save(missed);
    if (missed.kind === 'made') this.#following.set(idOf(missed), missed.madeId);
  }

  /** Whether the intent's result is spooled and not yet in the database. */
  follows = (intent: Pick<Missed, 'key' | 'baseUrl'>): boolean => this.#following.has(idOf(intent));

  /** Id of what the service made from an intent whose result is not in the database yet. */
  madeId = (intent: Pick<Missed, 'key' | 'baseUrl'>): string | undefined => this.#following.get(idOf(intent));

  /** Writes the results stored by any process on this machine to the database. @throws StorageError. */
  bringIn(ends: IntentEnds, signerOf: FindSigner): Promise<void> {
    return this.#inTurn.run(() => this.#bringIn(ends, signerOf));
  }

  async #bringIn(ends: IntentEnds, signerOf: FindSigner): Promise<void> {
    if (!this.#mayHavePending) return;
    // The next caller writes what is stored after this point.
    this.#mayHavePending = false;
    try {
      const pending = this.#spool.all();
      const signers: (Signer | undefined)[] = [];
      for (const { missed } of pending) signers.push(await signerOf(missed));
      const brought =
        pending.length === 0
          ? []
          : await this.#database.transaction(() =>
              pending.map(({ missed }, at) => ends.bringIn(missed, signers[at])),
            );
      for (const [at, one] of pending.entries()) this.#brought(one, brought[at]);
    } catch (error) {
      this.#mayHavePending = true;
      throw error;
    }
  }

  /**
   * Explains a failure to record an intent.
   * @param row is the row that may have reached the database; undefined if no row can have reached it.
   */
  notRecorded(failure: unknown, row: IntentRow | undefined): unknown {
    if (!isUnsettled(failure) || !row) return failure;
    const { key, base_url: baseUrl, created_at: since, pid, process_started: started } = row;
    const missed: Missed = {
      ...{ key: String(key), baseUrl: String(baseUrl), kind: 'ended', code: 'not_sent' },
      ...{ message: 'it was never sent', since: String(since), pid: Number(pid), started: String(started) },
    };
    const until = 'until a command here reaches it again, other machines may take that for in doubt';
    try {
      this.save(missed);
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
    }
    const { category, facts, message } = failure;
    const reported = `${message}; it may have the record of ${key}, and ${until}`;
    return new StorageError(reported, { ...facts, idempotencyKey: String(key), cause: failure }, category);
  }

  /** Records of this machine's own journal that are in doubt or unreported, oldest first. @throws StorageError. */
  async openInOwn(): Promise<readonly JournalRecord[]> {
    if (!this.#own && !mayBeThere(journalFile(this.#folder))) return [];
    this.#own ??= await OwnJournal.open(this.#folder, this.#options);
    return this.#own.open();
  }

  /**
   * Checks that this machine's own journal has no open records, because the database does not know of those.
   * @throws ErrandError conflict if there are any; StorageError.
   */
  async checkOwnJournal(): Promise<void> {
    const open = await this.openInOwn();
    if (open.length > 0) throw openRecords(open, this.#sharing.address.shown);
  }

  /** How long this process may still work on its records, in ms. */
  get leftMs(): number {
    return Math.max(0, this.#database.leases.leftMs());
  }

  /** Whether a request that is sent now ends before another machine may take over the request's record. */
  get holdsLong(): boolean {
    return this.leftMs >= enough * this.#database.leases.requestMs;
  }

  /** Renews this process's lease. Call within a transaction. */
  renew(): void {
    this.#database.leases.renew('');
  }

  close(): void {
    this.#own?.close();
  }

  #brought(one: PendingResult, result: Brought | undefined): void {
    const { key } = one.missed;
    if (typeof result === 'object') {
      this.#warn(
        `warning: the service has made two of ${key}: ${result.known}, which the journal knows, and ${result.madeId}`,
      );
    } else if (result === 'unknown') {
      // Keep the file. It is the only trace of the order.
      this.#warn(
        `warning: the database has no record of ${key}, which ${one.file} tells of: it may have been brought back to an earlier state`,
      );
      return;
    }
    this.#following.delete(idOf(one.missed));
    this.#spool.remove(one);
  }
}

/** Finds the signer of the entry that says how an intent ended. */
type FindSigner = (intent: Pick<Missed, 'key' | 'baseUrl'>) => Promise<Signer | undefined>;

type Brought = ReturnType<IntentEnds['bringIn']>;

const idOf = ({ key, baseUrl }: Pick<Missed, 'key' | 'baseUrl'>): string => JSON.stringify([baseUrl, key]);
