import { hostname } from 'node:os';
import { isObject, type JsonObject, numberIn, textIn } from '../../api/json.ts';
import type { DatabaseAddress } from '../../format/database-address.ts';
import { ErrandError, StorageError } from '../../platform/errors.ts';
import { isMacOf, type Mac, macOf } from '../mac.ts';
import {
  Connection,
  type DatabaseRow,
  explained,
  jsonText,
  literal,
  newId,
  RetryingConnection,
} from './connect.ts';

/** How many days jobs are stored, and the advisory lock for creating a job. */
const [retentionDays, beginLock] = [100, 7_264_911_064];

const isLive = (worker: string): string =>
  `EXISTS (SELECT 1 FROM errand.workers WHERE id = ${worker} AND until > clock_timestamp())`;

interface Signing {
  readonly mac?: Mac | undefined;
  /** Identity of the database. Each signature covers it, so that rows copied from another database are never placed. */
  readonly database: string;
}

/**
 * The work queue of upload jobs, in a database that all workers share. The queue holds the chunks, the worker that has
 * each chunk, and the results. A worker keeps its chunks as long as its heartbeats continue, by the database's clock.
 * After that, other workers take the chunks.
 */
export class JobQueue {
  readonly worker = newId();
  readonly #connection: RetryingConnection;
  readonly #heartbeat: Heartbeat;
  readonly #signing: Signing;

  /**
   * @param signal stops retries when the database is unreachable.
   * @param signing signs what is queued. Rows without this signature are never placed, because anyone who can write to
   * the database could have queued such rows.
   */
  constructor(address: DatabaseAddress, signal: AbortSignal, signing: Signing = { database: '' }) {
    this.#signing = signing;
    this.#connection = new RetryingConnection(address, signal);
    this.#heartbeat = new Heartbeat(address, this.worker);
  }

  /**
   * Joins the job that has the given name. With `begin`, this worker becomes the job's reader if the job has no live
   * reader and the file was not read yet.
   * @returns the job, and an unfinished job of the same name under another account or service.
   */
  async enter(
    { baseUrl, account }: JobOwner,
    name: string,
    begin?: { readonly sentWith: string; readonly terms: JsonObject },
  ): Promise<{ readonly own: Job | undefined; readonly elsewhere: Job | undefined }> {
    const owner = `${literal(baseUrl)}, ${literal(account)}`;
    const others = `name = ${literal(name)} AND (base_url, account) <> (${owner}) AND
      (state = 'open' OR (state = 'reading' AND ${isLive('reader')}))`;
    const rows = await this.#connection.ask(
      [
        ...(begin
          ? [
              `SELECT pg_advisory_xact_lock(${beginLock})`,
              this.#heartbeat.next(),
              `DELETE FROM errand.campaigns WHERE created_at < now() - interval '${retentionDays} days'`,
              `INSERT INTO errand.campaigns AS known (base_url, account, name, sent_with, terms, facts, state, reader)
                 SELECT ${owner}, ${literal(name)}, ${literal(begin.sentWith)}, ${jsonText(this.#signed('job', { name }, readable(begin.terms)))}, '{}', 'reading', '${this.worker}'
                 WHERE NOT EXISTS (SELECT 1 FROM errand.campaigns WHERE ${others})
               ON CONFLICT (base_url, account, name) DO UPDATE
                 SET terms = excluded.terms, facts = '{}', sent_with = excluded.sent_with, state = 'reading', reader = excluded.reader
                 WHERE known.state = 'refused' OR (known.state = 'reading' AND NOT ${isLive('known.reader')})`,
            ]
          : []),
        `${this.#campaigns} WHERE base_url = ${literal(baseUrl)} AND account = ${literal(account)} AND
           (name = ${literal(name)} OR CASE WHEN state IN ('open', 'done') THEN facts ->> 'upload' = ${literal(name)} END) ORDER BY name <> ${literal(name)} LIMIT 1`,
        `${this.#campaigns} WHERE ${others} LIMIT 1`,
      ].join(';\n'),
    );
    const found = rows.filter((row) => 'base_url' in row).map(jobOf);
    const isOwn = (one: Job): boolean => one.baseUrl === baseUrl && one.account === account;
    const own = found.find(isOwn);
    return { own: own && this.#verified(own), elsewhere: found.find((one) => !isOwn(one)) };
  }

  /** Reads a job; undefined if the job no longer exists. */
  async read({ id }: Pick<Job, 'id'>): Promise<Job | undefined> {
    const [row] = await this.#connection.ask(`${this.#campaigns} WHERE id = ${id}`);
    return row && this.#verified(jobOf(row));
  }

  /** Starts this worker's heartbeats for a job. */
  async work({ id }: Pick<Job, 'id'>): Promise<void> {
    await this.#connection.ask(this.#heartbeat.next(id));
    this.#heartbeat.begin();
  }

  /** Queues chunks for the service to check. Only the current reader may do so. */
  async addChecks({ id, name }: JobName, chunks: readonly Omit<Chunk, 'kind'>[]): Promise<void> {
    await this.#connection.ask(
      `${this.#insertChunks({ id, name }, 'check', chunks)}
         WHERE EXISTS (SELECT 1 FROM errand.campaigns WHERE id = ${id} AND reader = '${this.worker}')
         ON CONFLICT DO NOTHING`,
    );
  }

  /** Discards the check chunks of earlier readers, together with their results. */
  async forgetChecks({ id }: Pick<Job, 'id'>): Promise<void> {
    await this.#connection.ask(
      `DELETE FROM errand.campaign_chunks WHERE campaign = ${id} AND kind = 'check'`,
    );
  }

  /** Results of the next checked chunks. @param known lists the places already read. */
  async checked(job: JobName, known: readonly number[]): Promise<DoneChunk[]> {
    const rows = await this.#connection.ask(
      `SELECT place, body, result FROM errand.campaign_chunks WHERE campaign = ${job.id} AND kind = 'check'
         AND result IS NOT NULL AND place <> ALL (${placesSql(known)}) ORDER BY place LIMIT 20`,
    );
    return rows.map((row) => {
      const place = Number(row.place);
      const body = this.#read('chunk', { name: job.name, kind: 'check', place }, row.body);
      return {
        place,
        body,
        result: this.#read('result', { name: job.name, kind: 'check', place }, row.result),
      };
    });
  }

  /**
   * Queues all orders of the file and opens the job to all workers, in one transaction.
   * @throws StorageError if another worker has meanwhile become the reader.
   */
  async open(
    { id, name }: JobName,
    facts: JsonObject,
    chunks: AsyncIterable<readonly Omit<Chunk, 'kind'>[]>,
  ): Promise<void> {
    const own = new Connection(this.#connection.address);
    try {
      await own.ask(`BEGIN; DELETE FROM errand.campaign_chunks WHERE campaign = ${id}`);
      let batches = 0;
      for await (const some of chunks) {
        batches += some.length;
        if (some.length > 0) await own.ask(this.#insertChunks({ id, name }, 'place', some));
      }
      const known = this.#signed('job', { name, isOpen: true }, readable({ ...facts, batches }));
      const opened = await own.ask(
        `UPDATE errand.campaigns SET state = 'open', reader = NULL, facts = ${jsonText(known)}
           WHERE id = ${id} AND state = 'reading' AND reader = '${this.worker}' RETURNING id`,
      );
      if (opened.length === 0)
        throw new StorageError('another worker reads the file by now; nothing was sent', {
          outcome: 'not_sent',
          hint: 'Run the same command again.',
        });
      await own.ask('COMMIT');
    } catch (error) {
      throw explained(error, own.address);
    } finally {
      own.drop();
    }
  }

  /**
   * Marks the job as refused because the file cannot be uploaded as it is. Workers that wait for the job then see the
   * reason.
   */
  async refuse({ id }: Pick<Job, 'id'>, facts: JsonObject): Promise<void> {
    await this.#connection.ask(
      `UPDATE errand.campaigns SET state = 'refused', facts = ${jsonText(readable(facts))}, reader = NULL
         WHERE id = ${id} AND state = 'reading' AND reader = '${this.worker}'`,
    );
  }

  /**
   * Takes the next free chunk; undefined if none is available now. @param inHand lists the places of the chunks this
   * worker already has.
   */
  async take({ id, name }: JobName, kind: ChunkKind, inHand: readonly number[]): Promise<Chunk | undefined> {
    // Without MATERIALIZED, the planner may evaluate the subquery once per row, and so take every chunk.
    const [row] = await this.#connection.ask(
      `WITH next AS MATERIALIZED (
         SELECT place FROM errand.campaign_chunks AS chunk
         WHERE campaign = ${id} AND kind = '${kind}' AND result IS NULL AND (not_before IS NULL OR not_before <= clock_timestamp())
           AND (worker IS NULL OR (worker = '${this.worker}' AND place <> ALL (${placesSql(inHand)}))
             OR (worker <> '${this.worker}' AND NOT ${isLive('chunk.worker')}))
         ORDER BY place LIMIT 1 FOR UPDATE SKIP LOCKED)
       UPDATE errand.campaign_chunks AS taken SET worker = '${this.worker}' FROM next
       WHERE taken.campaign = ${id} AND taken.kind = '${kind}' AND taken.place = next.place
       RETURNING taken.place, taken.body`,
    );
    if (!row) return undefined;
    const place = Number(row.place);
    return { kind, place, body: this.#read('chunk', { name, kind, place }, row.body) };
  }

  /** Stores a chunk's result. */
  async done(
    { id, name }: JobName,
    { kind, place }: Pick<Chunk, 'kind' | 'place'>,
    result: JsonObject,
  ): Promise<void> {
    await this.#connection.ask(
      `UPDATE errand.campaign_chunks SET result = ${jsonText(this.#signed('result', { name, kind, place }, readable(result)))}, worker = NULL
         WHERE campaign = ${id} AND kind = '${kind}' AND place = ${place}`,
    );
  }

  /** Releases a chunk that cannot be done now. Any worker may take the chunk after a delay. @param ms is the delay. */
  async setAside(
    { id }: Pick<Job, 'id'>,
    { kind, place }: Pick<Chunk, 'kind' | 'place'>,
    ms: number,
  ): Promise<void> {
    await this.#connection.ask(
      `UPDATE errand.campaign_chunks SET worker = NULL, not_before = clock_timestamp() + interval '${ms} milliseconds'
         WHERE campaign = ${id} AND kind = '${kind}' AND place = ${place} AND worker = '${this.worker}'`,
    );
  }

  async progress({ id }: Pick<Job, 'id'>): Promise<JobProgress> {
    const [row] = await this.#connection.ask(
      `SELECT (SELECT state FROM errand.campaigns WHERE id = ${id}) AS state, coalesce(sum(count), 0) AS rows,
         coalesce(sum(count) FILTER (WHERE result IS NOT NULL), 0) AS sent, count(*) FILTER (WHERE result IS NULL) AS open,
         (SELECT count(*) FROM errand.workers WHERE campaign = ${id} AND until > clock_timestamp()) AS workers
       FROM errand.campaign_chunks WHERE campaign = ${id} AND kind = 'place'`,
    );
    return {
      state: stateOf(row?.state),
      rows: Number(row?.rows ?? 0),
      sent: Number(row?.sent ?? 0),
      open: Number(row?.open ?? 0),
      workers: Number(row?.workers ?? 0),
    };
  }

  /** All order chunks, done or not, in file order. */
  async *orders({ id, name }: JobName): AsyncGenerator<Chunk & { readonly result: JsonObject | undefined }> {
    for (let place = -1; ; ) {
      const rows = await this.#connection.ask(
        `SELECT place, body, result FROM errand.campaign_chunks WHERE campaign = ${id} AND kind = 'place' AND place > ${place}
           ORDER BY place LIMIT 20`,
      );
      for (const row of rows) {
        place = Number(row.place);
        const at = { name, kind: 'place', place } as const;
        const result = isObject(row.result) ? this.#read('result', at, row.result) : undefined;
        yield { kind: 'place', place, body: this.#read('chunk', at, row.body), result };
      }
      if (rows.length === 0) return;
    }
  }

  /**
   * Journal keys of the job's batches. Each body begins with the key of its batch. The key is read from the text of the
   * body, because PostgreSQL cannot parse every body as JSON.
   */
  async keys({ id }: Pick<Job, 'id'>): Promise<Set<string>> {
    const found = await this.#connection.ask(
      `SELECT substring(body::text from '"key":"([0-9a-f-]*)"') AS key FROM errand.campaign_chunks WHERE campaign = ${id} AND kind = 'place'`,
    );
    return new Set(found.map(({ key }) => String(key)));
  }

  /**
   * Results of all order chunks, in file order, once all chunks are done.
   * @throws ErrandError conflict if somebody has removed some chunks, or ended the job before all chunks were done.
   */
  async placed({ id, name }: JobName): Promise<{ readonly rows: number; readonly result: JsonObject }[]> {
    const found = await this.#connection.ask(
      `SELECT count, place, result FROM errand.campaign_chunks WHERE campaign = ${id} AND kind = 'place' AND result IS NOT NULL
         ORDER BY place`,
    );
    const job = await this.read({ id });
    const batches = job && isRead(job) ? numberIn(job.facts, 'batches') : undefined;
    if (batches === undefined || found.length < batches) throw incomplete(name);
    return found.map(({ count, place, result }) => ({
      rows: Number(count),
      result: this.#read('result', { name, kind: 'place', place: Number(place) }, result),
    }));
  }

  /**
   * Once all chunks are done, marks the job as done and empties the bodies of its chunks, because the journal has the
   * rows.
   */
  async finish({ id }: Pick<Job, 'id'>): Promise<void> {
    await this.#connection.ask(
      `UPDATE errand.campaigns SET state = 'done' WHERE id = ${id} AND state = 'open' AND NOT EXISTS
         (SELECT 1 FROM errand.campaign_chunks WHERE campaign = ${id} AND kind = 'place' AND result IS NULL);
       UPDATE errand.campaign_chunks SET body = '{}' WHERE campaign IN (SELECT id FROM errand.campaigns WHERE id = ${id} AND state = 'done')`,
    );
  }

  /**
   * Releases this worker's chunks immediately. Never fails, because the chunks are released anyway when the worker's
   * lease expires.
   */
  async leave(): Promise<void> {
    await this.#heartbeat.end(
      `UPDATE errand.campaign_chunks SET worker = NULL WHERE worker = '${this.worker}' AND result IS NULL;
       UPDATE errand.campaigns SET reader = NULL WHERE reader = '${this.worker}';
       DELETE FROM errand.workers WHERE id = '${this.worker}'`,
    );
    this.#connection.drop();
  }

  /**
   * Signs a value. The signature is valid only for the value's place in a job. It comes last, because keys are searched
   * for at the beginning of the text.
   */
  #signed(what: 'job' | 'chunk' | 'result', at: Place, value: JsonObject): JsonObject {
    const { mac, database } = this.#signing;
    return mac ? { ...value, mac: macOf(mac, what, { at, value, database }) } : value;
  }

  /**
   * Reads a value from its place in a job. The signatures of earlier versions name no database.
   * @throws ErrandError conflict if the value is not signed, or was signed for another place.
   */
  #read(what: 'job' | 'chunk' | 'result', at: Place, stored: unknown): JsonObject {
    const { mac: code, ...value } = objectOf(stored);
    const { mac, database } = this.#signing;
    const isSigned =
      !mac || [{ database }, {}].some((named) => isMacOf(code, mac, what, { at, value, ...named }));
    if (!isSigned) throw unsigned(at.name);
    return value;
  }

  #verified(job: Job): Job {
    const { name } = job;
    return {
      ...job,
      terms: this.#read('job', { name }, job.terms),
      facts: isRead(job) ? this.#read('job', { name, isOpen: true }, job.facts) : job.facts,
    };
  }

  /**
   * Stores rows unchanged, including NUL characters. PostgreSQL can store JSON that contains NUL, but cannot read
   * single values from it.
   */
  #insertChunks({ id, name }: JobName, kind: ChunkKind, chunks: readonly Omit<Chunk, 'kind'>[]): string {
    const given = chunks.map(({ place, body }) => {
      const signed = this.#signed('chunk', { name, kind, place }, body);
      return `(${place}::bigint, ${countOf(body)}::bigint, ${jsonText(signed)})`;
    });
    return `INSERT INTO errand.campaign_chunks (campaign, kind, place, count, body)
      SELECT ${id}, '${kind}', place, count, body FROM (VALUES ${given.join(', ')}) AS given (place, count, body)`;
  }

  get #campaigns(): string {
    return `SELECT id, base_url, account, name, sent_with, state, terms, facts, reader = '${this.worker}' AS is_reader,
      (SELECT host FROM errand.workers WHERE workers.id = reader AND until > clock_timestamp()) AS reader_host FROM errand.campaigns`;
  }
}

type JobName = Pick<Job, 'id' | 'name'>;

/** The place for which a value is signed. At any other place, the signature is invalid. */
interface Place {
  /** Name of the job. */
  readonly name: string;
  /** Set for facts that become known when the file is read. */
  readonly isOpen?: true;
  readonly kind?: ChunkKind;
  readonly place?: number;
}

const unsigned = (name: string): ErrandError =>
  new ErrandError(
    'conflict',
    `the shared upload ${name} is not signed under the API key in use: an earlier version of errand began it, or somebody else has written to it; nothing of it is sent`,
    {
      code: 'not_proven',
      outcome: 'not_sent',
      retryable: false,
      hint: 'Upload the file again under another name (--name): what is ordered already is left out.',
    },
  );

/**
 * Whether a job's facts are the result of reading the job's file. In other states, the facts are different or missing.
 */
const isRead = ({ state }: Pick<Job, 'state'>): boolean => state === 'open' || state === 'done';

const incomplete = (name: string): ErrandError =>
  new ErrandError(
    'conflict',
    `not all of the shared upload ${name} is ordered: somebody else has changed the database, which says that nothing is left`,
    {
      code: 'not_proven',
      outcome: 'applied',
      retryable: false,
      hint: 'Upload the file again under another name (--name): what is ordered already is left out.',
    },
  );

/**
 * Replaces lone surrogates and NUL in text from the service, because PostgreSQL cannot read JSON that contains them.
 */
const readable = (value: JsonObject): JsonObject =>
  JSON.parse(JSON.stringify(value), (_, one: unknown) =>
    typeof one === 'string' ? one.toWellFormed().replaceAll('\0', '\ufffd') : one,
  );

const countOf = ({ rows }: JsonObject): number => (Array.isArray(rows) ? rows.length : 0);

const placesSql = (places: readonly number[]): string => `ARRAY[${places.join(', ')}]::bigint[]`;

/** How long a worker's lease lasts without a heartbeat, and the interval between heartbeats, in ms. */
const [leaseMs, heartbeatIntervalMs] = [20_000, 4_000];
/** Maximum wait for the database, in ms, when a worker leaves. */
const farewellMs = 1000;

/**
 * Sends a worker's heartbeats. Uses a separate connection, so that no heartbeat waits behind other statements. A worker
 * that sends no heartbeats loses its chunks.
 */
class Heartbeat {
  readonly #address: DatabaseAddress;
  readonly #worker: string;
  #connection: Connection;
  #timer: NodeJS.Timeout | undefined;
  #pending: Promise<void> | undefined;
  #job: number | undefined;
  #hasCome = false;

  constructor(address: DatabaseAddress, worker: string) {
    this.#address = address;
    this.#worker = worker;
    this.#connection = new Connection(address);
  }

  /** SQL of a heartbeat, for the caller to run. @param job is the job that this worker is on from now on. */
  next(job?: number): string {
    this.#hasCome = true;
    this.#job = job;
    const until = `clock_timestamp() + interval '${leaseMs} milliseconds'`;
    return `INSERT INTO errand.workers (id, host, campaign, until)
        VALUES ('${this.#worker}', ${literal(hostname())}, ${job ?? 'NULL'}, ${until})
        ON CONFLICT (id) DO UPDATE SET until = excluded.until, campaign = excluded.campaign`;
  }

  begin(): void {
    this.#timer ??= setInterval(() => this.#give(), heartbeatIntervalMs).unref();
  }

  /**
   * Stops the heartbeats. Never fails.
   * @param farewell is the last SQL to run. It gets at most `farewellMs` to finish.
   */
  async end(farewell: string): Promise<void> {
    clearInterval(this.#timer);
    if (this.#hasCome) {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, farewellMs);
      });
      await Promise.race([this.#connection.ask(farewell, true).then(unheard, unheard), late]);
      clearTimeout(timer);
    }
    this.#connection.drop();
  }

  /** Sends one heartbeat at a time. Replaces a connection on which the last heartbeat got no response. */
  #give(): void {
    if (this.#pending) {
      this.#connection.drop();
      this.#connection = new Connection(this.#address);
    }
    const given = this.#connection.ask(this.next(this.#job), true).then(unheard, unheard);
    this.#pending = given;
    void given.then(() => {
      if (this.#pending === given) this.#pending = undefined;
    });
  }
}

/** Ignores the result, because the next heartbeat says the same. */
const unheard = (): void => {};

/** Owner of a set of jobs. Job names are unique per service and account. */
export interface JobOwner {
  readonly baseUrl: string;
  readonly account: string;
}

/** A file that several workers upload together. */
export interface Job extends JobOwner {
  readonly id: number;
  readonly name: string;
  /** Masked API key that the upload uses. */
  readonly sentWith: string;
  /**
   * State of a job. `reading`: one worker reads and validates the file. `refused`: the file may not be uploaded as it
   * is.
   */
  readonly state: 'reading' | 'open' | 'refused' | 'done';
  /** Options with which the file was read. */
  readonly terms: JsonObject;
  /** Result of reading the file, or the reason why the file was refused. */
  readonly facts: JsonObject;
  /** Host of the worker that is reading the file now; undefined if no worker is. */
  readonly readerHost: string | undefined;
  readonly isReader: boolean;
}

/** What a chunk is for. `check`: the service validates the rows. `place`: the rows are ordered. */
export type ChunkKind = 'check' | 'place';

/** A unit of work. */
export interface Chunk {
  readonly kind: ChunkKind;
  readonly place: number;
  readonly body: JsonObject;
}

interface DoneChunk extends Omit<Chunk, 'kind'> {
  readonly result: JsonObject;
}

/** Progress of a campaign. */
interface JobProgress {
  readonly state: Job['state'];
  /** Number of rows to be ordered, and number of rows already in a batch at the service. */
  readonly rows: number;
  readonly sent: number;
  /** Order chunks not yet done. */
  readonly open: number;
  /** Number of workers active now, including this one. */
  readonly workers: number;
}

/** Returns a JSON object from the database. For any other value, returns an empty object. */
const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});

const states: readonly Job['state'][] = ['reading', 'open', 'refused', 'done'];
const stateOf = (value: unknown): Job['state'] => states.find((state) => state === value) ?? 'refused';

const jobOf = (row: DatabaseRow): Job => ({
  id: Number(row.id),
  baseUrl: String(row.base_url),
  account: String(row.account),
  name: String(row.name),
  sentWith: String(row.sent_with),
  state: stateOf(row.state),
  terms: objectOf(row.terms),
  facts: objectOf(row.facts),
  readerHost: textIn(row, 'reader_host'),
  isReader: row.is_reader === true,
});

/** Initial rate, in requests per second. */
const firstRate = 30;
const [minRate, maxRate] = [0.05, 1000];
/** Factor by which the rate is multiplied when the service throttles. */
const cut = 0.85;
/** How much the rate grows per second, as a fraction of the rate right after the last cut, or of the initial rate. */
const growth = 0.02;
/**
 * Length of a pause if the service asks for one without naming its length, and the longest pause that is honored, in
 * ms.
 */
const [pauseMs, maxPauseMs] = [1_000, 600_000];
/** How many turns are remembered, to count the turns taken within the last second. */
const remembered = 200;
/** A turn that is due within this time, in ms, is taken immediately. */
const nearMs = 3;

/** The request may be sent now, or it must wait for `waitMs`. */
type Turn = { readonly at: number; readonly waitMs?: never } | { readonly waitMs: number };

/**
 * The request rate of all workers that use one account at a service. It is stored as a database row and uses the
 * database's clock. Throttling (429) cuts the rate. After a cut, the rate recovers slowly.
 */
export class RequestBudget {
  readonly #connection: RetryingConnection;
  readonly #where: string;
  readonly #owner: string;

  constructor(address: DatabaseAddress, { baseUrl, account }: JobOwner, signal: AbortSignal) {
    this.#connection = new RetryingConnection(address, signal);
    this.#owner = `${literal(baseUrl)}, ${literal(account)}`;
    this.#where = `base_url = ${literal(baseUrl)} AND account = ${literal(account)}`;
  }

  /**
   * Creates the budget if it is missing. Limits that the workers of another job have set stay in force.
   * @param requestedRate is the number of requests per second configured for the job; undefined if not set.
   */
  async begin({ id }: Pick<Job, 'id'>, requestedRate: number | undefined): Promise<void> {
    const limit = requestedRate ?? maxRate;
    const hasOthers = `EXISTS (SELECT 1 FROM errand.workers JOIN errand.campaigns ON campaigns.id = workers.campaign
      WHERE workers.until > clock_timestamp() AND campaigns.id <> ${id}
        AND campaigns.base_url = known.base_url AND campaigns.account = known.account)`;
    await this.#connection.ask(
      `INSERT INTO errand.request_budgets AS known (base_url, account, rate, most, base, next_at, grown_at, cut_at, recent)
         VALUES (${this.#owner}, least(${firstRate}, ${limit}), ${limit}, ${firstRate}, clock_timestamp(), clock_timestamp(), 'epoch', '{}')
       ON CONFLICT (base_url, account) DO UPDATE SET
         most = CASE WHEN ${hasOthers} THEN least(known.most, excluded.most) ELSE excluded.most END, rate = least(known.rate, excluded.most)`,
    );
  }

  /**
   * Takes a turn if one is due.
   * @returns the time at which the turn was taken, in seconds since the epoch by the database's clock. If no turn is
   * due, returns how long to wait.
   */
  async take(): Promise<Turn> {
    const now = 'extract(epoch FROM clock_timestamp())::float8';
    const rows = await this.#connection.ask(
      `UPDATE errand.request_budgets SET
         rate = least(most, rate + base * ${growth} * least(1, greatest(0, ${now} - extract(epoch FROM grown_at)))),
         grown_at = clock_timestamp(),
         next_at = greatest(next_at, clock_timestamp()) + make_interval(secs => 1 / rate),
         recent = (ARRAY[${now}] || recent)[1:${remembered}]
       WHERE ${this.#where} AND next_at <= clock_timestamp() + interval '${nearMs} milliseconds'
       RETURNING recent[1] AS at;
       SELECT greatest(1, extract(epoch FROM next_at - clock_timestamp()) * 1000)::float8 AS wait FROM errand.request_budgets WHERE ${this.#where}`,
    );
    const at = numbered(rows, 'at');
    return at === undefined ? { waitMs: numbered(rows, 'wait') ?? pauseMs } : { at };
  }

  /**
   * Lowers the rate and pauses. Called when the service has throttled the request whose turn was taken at `at`. If that
   * request was sent before the last cut, the rate is not cut again, because the last cut was made for the same
   * throttling.
   * @param requestedMs is undefined if the service gave no duration.
   */
  async cut(at: number, requestedMs: number | undefined): Promise<void> {
    const pause = Math.min(maxPauseMs, Math.max(requestedMs ?? pauseMs, 0));
    const isNew = `extract(epoch FROM cut_at) < ${at}`;
    const taken = `(SELECT count(*) FROM unnest(recent) AS turn WHERE turn > ${at} - 1 AND turn <= ${at})`;
    const lower = `greatest(${minRate}, ${cut} * least(rate, greatest(1, ${taken} - 1)))`;
    await this.#connection.ask(
      `UPDATE errand.request_budgets SET
         rate = CASE WHEN ${isNew} THEN ${lower} ELSE rate END,
         base = CASE WHEN ${isNew} THEN ${lower} ELSE base END,
         cut_at = CASE WHEN ${isNew} THEN clock_timestamp() ELSE cut_at END,
         grown_at = CASE WHEN ${isNew} THEN clock_timestamp() + interval '${pause} milliseconds' ELSE grown_at END,
         next_at = greatest(next_at, clock_timestamp() + interval '${pause} milliseconds')
       WHERE ${this.#where}`,
    );
  }

  close(): void {
    this.#connection.drop();
  }
}

function numbered(rows: readonly DatabaseRow[], name: string): number | undefined {
  const row = rows.find((one) => name in one);
  return row && numberIn({ [name]: Number(row[name]) }, name);
}
