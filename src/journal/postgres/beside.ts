import type { Sharing } from '../../format/database-address.ts';
import { InTurn } from '../../platform/async.ts';
import { StorageError } from '../../platform/errors.ts';
import { mayBeThere, type Tell } from '../../platform/private-files.ts';
import { isUnsettled } from '../booked.ts';
import type { OpenOptions } from '../database.ts';
import type { IntentEnds } from '../intent-ends.ts';
import type { IntentRow } from '../intent-row.ts';
import type { JournalRecord } from '../journal-record.ts';
import { journalFile } from '../journal-tables.ts';
import type { SharedDatabase } from './database.ts';
import { OwnJournal, openRecords } from './own-journal.ts';
import { type Kept, type Missed, Spool } from './spool.ts';

/** Of the longest that a request may take, so much must be left before one is sent. */
const enough = 0.8;

/** What a machine keeps beside a journal that it shares: what the database missed, and the journal that it had of its own. */
export class Beside {
  readonly #database: SharedDatabase;
  readonly #folder: string;
  readonly #sharing: Sharing;
  readonly #options: OpenOptions;
  readonly #spool: Spool;
  readonly #tell: Tell;
  readonly #following = new Map<string, string>();
  #own: OwnJournal | undefined;
  #mayHaveKept = true;
  readonly #inTurn = new InTurn();

  /** @param folder of the state of this machine. */
  constructor(database: SharedDatabase, folder: string, sharing: Sharing, options: OpenOptions) {
    const { tell = () => {} } = options;
    this.#database = database;
    this.#folder = folder;
    this.#sharing = sharing;
    this.#options = options;
    this.#tell = tell;
    this.#spool = new Spool(folder, database.id, tell);
  }

  /** Keeps what the database did not take. @throws StorageError. */
  keep(missed: Missed): void {
    this.#mayHaveKept = true;
    this.#spool.keep(missed);
    if (missed.kind === 'made') this.#following.set(idOf(missed), missed.madeId);
  }

  /** Whether the record of what was made follows. */
  follows = (intent: Pick<Missed, 'key' | 'baseUrl'>): boolean => this.#following.has(idOf(intent));

  /** What was made of an intent whose record follows. */
  madeId = (intent: Pick<Missed, 'key' | 'baseUrl'>): string | undefined => this.#following.get(idOf(intent));

  /** Brings in what the database has missed, of this process and of others on this machine. @throws StorageError. */
  bringIn(ends: IntentEnds): Promise<void> {
    return this.#inTurn.run(() => this.#bringIn(ends));
  }

  async #bringIn(ends: IntentEnds): Promise<void> {
    if (!this.#mayHaveKept) return;
    // What is kept meanwhile is brought in by whoever comes next.
    this.#mayHaveKept = false;
    try {
      const kept = this.#spool.all();
      const brought =
        kept.length === 0
          ? []
          : await this.#database.transaction(() => kept.map(({ missed }) => ends.bringIn(missed)));
      for (const [at, one] of kept.entries()) this.#brought(one, brought[at]);
    } catch (error) {
      this.#mayHaveKept = true;
      throw error;
    }
  }

  /** What a failure to record an intent means. @param row as it may stand in the database; undefined where it cannot. */
  notRecorded(failure: unknown, row: IntentRow | undefined): unknown {
    if (!isUnsettled(failure) || !row) return failure;
    const { key, base_url: baseUrl, created_at: since, pid, process_started: started } = row;
    const missed: Missed = {
      ...{ key: String(key), baseUrl: String(baseUrl), kind: 'ended', code: 'not_sent' },
      ...{ message: 'it was never sent', since: String(since), pid: Number(pid), started: String(started) },
    };
    const until = 'until a command here reaches it again, other machines may take that for in doubt';
    try {
      this.keep(missed);
    } catch (error) {
      if (!(error instanceof StorageError)) throw error;
    }
    const { category, facts, message } = failure;
    const told = `${message}; it may have the record of ${key}, and ${until}`;
    return new StorageError(told, { ...facts, idempotencyKey: String(key), cause: failure }, category);
  }

  /** What this machine's own journal has in doubt or untold, oldest first. @throws StorageError. */
  async openInOwn(): Promise<readonly JournalRecord[]> {
    if (!this.#own && !mayBeThere(journalFile(this.#folder))) return [];
    this.#own ??= await OwnJournal.open(this.#folder, this.#options);
    return this.#own.open();
  }

  /** @throws ErrandError conflict while there is such a thing, which the database does not know of; StorageError. */
  async checkOwnJournal(): Promise<void> {
    const open = await this.openInOwn();
    if (open.length > 0) throw openRecords(open, this.#sharing.address.shown);
  }

  /** How long this process may work on what it has recorded, ms. */
  get leftMs(): number {
    return Math.max(0, this.#database.leases.leftMs());
  }

  /** Whether a request that is sent now ends before another machine may take its record over. */
  get holdsLong(): boolean {
    return this.leftMs >= enough * this.#database.leases.requestMs;
  }

  /** Within a transaction: this process is at work for so long again. */
  renew(): void {
    this.#database.leases.renew('');
  }

  close(): void {
    this.#own?.close();
  }

  #brought(one: Kept, result: Brought | undefined): void {
    const { key } = one.missed;
    if (typeof result === 'object') {
      this.#tell(
        `warning: the service has made two of ${key}: ${result.known}, which the journal knows, and ${result.madeId}`,
      );
    } else if (result === 'unknown') {
      // It is all that is left of the order.
      this.#tell(
        `warning: the database has no record of ${key}, which ${one.file} tells of: it may have been brought back to an earlier state`,
      );
      return;
    }
    this.#following.delete(idOf(one.missed));
    this.#spool.remove(one);
  }
}

type Brought = ReturnType<IntentEnds['bringIn']>;

const idOf = ({ key, baseUrl }: Pick<Missed, 'key' | 'baseUrl'>): string => JSON.stringify([baseUrl, key]);
