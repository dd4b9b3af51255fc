import { hostname } from 'node:os';
import { isObject, type JsonObject, numberIn, textIn } from '../../api/json.ts';
import type { DatabaseAddress } from '../../format/database-address.ts';
import { StorageError } from '../../platform/errors.ts';
import {
  Connection,
  type DatabaseRow,
  explained,
  jsonText,
  literal,
  newId,
  PatientConnection,
} from './connect.ts';

/** How long a campaign is kept, days; and the advisory lock under which campaigns begin. */
const [keptDays, beginLock] = [100, 7_264_911_064];

const isLive = (worker: string): string =>
  `EXISTS (SELECT 1 FROM errand.workers WHERE id = ${worker} AND until > clock_timestamp())`;

/**
 * The work of campaigns, in a database that all workers reach: what is to be done, who does it, and what came of it. What a
 * worker has taken is its own as long as it gives signs of life, by the database's clock; then others take it.
 */
export class ShareQueue {
  readonly worker = newId();
  readonly #connection: PatientConnection;
  readonly #signs: Signs;

  /** @param signal ends the patience with a database that is away. */
  constructor(address: DatabaseAddress, signal: AbortSignal) {
    this.#connection = new PatientConnection(address, signal);
    this.#signs = new Signs(address, this.worker);
  }

  /**
   * A worker comes to the campaign of a name; with `terms` it reads the file where nobody does or has.
   * @returns the campaign, and one of the same name that another account or service has not ended.
   */
  async enter(
    { baseUrl, account }: CampaignOwner,
    name: string,
    begin?: { readonly sentWith: string; readonly terms: JsonObject },
  ): Promise<{ readonly own: Campaign | undefined; readonly elsewhere: Campaign | undefined }> {
    const owner = `${literal(baseUrl)}, ${literal(account)}`;
    const others = `name = ${literal(name)} AND (base_url, account) <> (${owner}) AND
      (state = 'open' OR (state = 'reading' AND ${isLive('reader')}))`;
    const rows = await this.#connection.ask(
      [
        ...(begin
          ? [
              `SELECT pg_advisory_xact_lock(${beginLock})`,
              this.#signs.next(),
              `DELETE FROM errand.campaigns WHERE created_at < now() - interval '${keptDays} days'`,
              `INSERT INTO errand.campaigns AS known (base_url, account, name, sent_with, terms, facts, state, reader)
                 SELECT ${owner}, ${literal(name)}, ${literal(begin.sentWith)}, ${jsonText(readable(begin.terms))}, '{}', 'reading', '${this.worker}'
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
    const found = rows.filter((row) => 'base_url' in row).map(campaignOf);
    const isOwn = (one: Campaign): boolean => one.baseUrl === baseUrl && one.account === account;
    return { own: found.find(isOwn), elsewhere: found.find((one) => !isOwn(one)) };
  }

  /** Undefined where it is gone. */
  async read({ id }: Pick<Campaign, 'id'>): Promise<Campaign | undefined> {
    const [row] = await this.#connection.ask(`${this.#campaigns} WHERE id = ${id}`);
    return row && campaignOf(row);
  }

  /** From now on this worker gives signs of life for a campaign. */
  async work({ id }: Pick<Campaign, 'id'>): Promise<void> {
    await this.#connection.ask(this.#signs.next(id));
    this.#signs.begin();
  }

  /** Chunks that the service is to look at, of whoever reads the file. */
  async addChecks({ id }: Pick<Campaign, 'id'>, chunks: readonly Omit<Chunk, 'kind'>[]): Promise<void> {
    await this.#connection.ask(
      `${insertChunks(id, 'check', chunks)}
         WHERE EXISTS (SELECT 1 FROM errand.campaigns WHERE id = ${id} AND reader = '${this.worker}')
         ON CONFLICT DO NOTHING`,
    );
  }

  /** What earlier readers had the service look at says nothing of this reading. */
  async forgetChecks({ id }: Pick<Campaign, 'id'>): Promise<void> {
    await this.#connection.ask(
      `DELETE FROM errand.campaign_chunks WHERE campaign = ${id} AND kind = 'check'`,
    );
  }

  /** What came of chunks that were looked at, the next of them. @param known places that are known. */
  async checked({ id }: Pick<Campaign, 'id'>, known: readonly number[]): Promise<DoneChunk[]> {
    const rows = await this.#connection.ask(
      `SELECT place, body, result FROM errand.campaign_chunks WHERE campaign = ${id} AND kind = 'check'
         AND result IS NOT NULL AND place <> ALL (${placesSql(known)}) ORDER BY place LIMIT 20`,
    );
    return rows.map((row) => ({
      ...{ place: Number(row.place), body: objectOf(row.body), result: objectOf(row.result) },
    }));
  }

  /**
   * The file is read: all its orders are put into the queue, and the campaign is open to all workers; all of it, or nothing.
   * @throws StorageError where another worker has taken the reading over meanwhile.
   */
  async open(
    { id }: Pick<Campaign, 'id'>,
    facts: JsonObject,
    chunks: AsyncIterable<readonly Omit<Chunk, 'kind'>[]>,
  ): Promise<void> {
    const own = new Connection(this.#connection.address);
    try {
      await own.ask(`BEGIN; DELETE FROM errand.campaign_chunks WHERE campaign = ${id}`);
      for await (const some of chunks) if (some.length > 0) await own.ask(insertChunks(id, 'place', some));
      const opened = await own.ask(
        `UPDATE errand.campaigns SET state = 'open', reader = NULL, facts = ${jsonText(readable(facts))}
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

  /** The file may not be uploaded as it is: whoever waits for it is told. */
  async refuse({ id }: Pick<Campaign, 'id'>, facts: JsonObject): Promise<void> {
    await this.#connection.ask(
      `UPDATE errand.campaigns SET state = 'refused', facts = ${jsonText(readable(facts))}, reader = NULL
         WHERE id = ${id} AND state = 'reading' AND reader = '${this.worker}'`,
    );
  }

  /** Takes the next chunk that nobody works on; undefined where there is none now. @param inHand places that this worker has. */
  async take(
    { id }: Pick<Campaign, 'id'>,
    kind: ChunkKind,
    inHand: readonly number[],
  ): Promise<Chunk | undefined> {
    // MATERIALIZED: else the planner may choose once per row, and take every chunk.
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
    return row && { kind, place: Number(row.place), body: objectOf(row.body) };
  }

  /** A chunk is done. */
  async done(
    { id }: Pick<Campaign, 'id'>,
    { kind, place }: Pick<Chunk, 'kind' | 'place'>,
    result: JsonObject,
  ): Promise<void> {
    await this.#connection.ask(
      `UPDATE errand.campaign_chunks SET result = ${jsonText(readable(result))}, worker = NULL
         WHERE campaign = ${id} AND kind = '${kind}' AND place = ${place}`,
    );
  }

  /** A chunk cannot be done now: whoever comes after a while takes it. @param ms */
  async setAside(
    { id }: Pick<Campaign, 'id'>,
    { kind, place }: Pick<Chunk, 'kind' | 'place'>,
    ms: number,
  ): Promise<void> {
    await this.#connection.ask(
      `UPDATE errand.campaign_chunks SET worker = NULL, not_before = clock_timestamp() + interval '${ms} milliseconds'
         WHERE campaign = ${id} AND kind = '${kind}' AND place = ${place} AND worker = '${this.worker}'`,
    );
  }

  async standing({ id }: Pick<Campaign, 'id'>): Promise<CampaignStanding> {
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

  /** Everything that is to be ordered, or was, in the order of the file. */
  async *orders({
    id,
  }: Pick<Campaign, 'id'>): AsyncGenerator<Chunk & { readonly result: JsonObject | undefined }> {
    for (let place = -1; ; ) {
      const rows = await this.#connection.ask(
        `SELECT place, body, result FROM errand.campaign_chunks WHERE campaign = ${id} AND kind = 'place' AND place > ${place}
           ORDER BY place LIMIT 20`,
      );
      for (const row of rows) {
        place = Number(row.place);
        const result = isObject(row.result) ? row.result : undefined;
        yield { kind: 'place', place, body: objectOf(row.body), result };
      }
      if (rows.length === 0) return;
    }
  }

  /** What came of each chunk of orders that is done, in the order of the file. */
  async placed({
    id,
  }: Pick<Campaign, 'id'>): Promise<{ readonly rows: number; readonly result: JsonObject }[]> {
    const found = await this.#connection.ask(
      `SELECT count, result FROM errand.campaign_chunks WHERE campaign = ${id} AND kind = 'place' AND result IS NOT NULL
         ORDER BY place`,
    );
    return found.map(({ count, result }) => ({ rows: Number(count), result: objectOf(result) }));
  }

  /** Where all is done, the rows need not be kept any longer: the journal has them. */
  async finish({ id }: Pick<Campaign, 'id'>): Promise<void> {
    await this.#connection.ask(
      `UPDATE errand.campaigns SET state = 'done' WHERE id = ${id} AND state = 'open' AND NOT EXISTS
         (SELECT 1 FROM errand.campaign_chunks WHERE campaign = ${id} AND kind = 'place' AND result IS NULL);
       UPDATE errand.campaign_chunks SET body = '{}' WHERE campaign IN (SELECT id FROM errand.campaigns WHERE id = ${id} AND state = 'done')`,
    );
  }

  /** What this worker has taken is free at once. Never fails: it becomes free by itself. */
  async leave(): Promise<void> {
    await this.#signs.end(
      `UPDATE errand.campaign_chunks SET worker = NULL WHERE worker = '${this.worker}' AND result IS NULL;
       UPDATE errand.campaigns SET reader = NULL WHERE reader = '${this.worker}';
       DELETE FROM errand.workers WHERE id = '${this.worker}'`,
    );
    this.#connection.drop();
  }

  get #campaigns(): string {
    return `SELECT id, base_url, account, name, sent_with, state, terms, facts, reader = '${this.worker}' AS is_reader,
      (SELECT host FROM errand.workers WHERE workers.id = reader AND until > clock_timestamp()) AS reader_host FROM errand.campaigns`;
  }
}

/** Rows are kept as they are, NUL as well: PostgreSQL takes any JSON, and fails where it is to look into such a one. */
const insertChunks = (id: number, kind: ChunkKind, chunks: readonly Omit<Chunk, 'kind'>[]): string => {
  const given = chunks.map(
    ({ place, body }) => `(${place}::bigint, ${countOf(body)}::bigint, ${jsonText(body)})`,
  );
  return `INSERT INTO errand.campaign_chunks (campaign, kind, place, count, body)
    SELECT ${id}, '${kind}', place, count, body FROM (VALUES ${given.join(', ')}) AS given (place, count, body)`;
};

/** A text of a service may be cut within a character, or hold NUL: PostgreSQL would read nothing of a JSON that has such. */
const readable = (value: JsonObject): JsonObject =>
  JSON.parse(JSON.stringify(value), (_, one: unknown) =>
    typeof one === 'string' ? one.toWellFormed().replaceAll('\0', '\ufffd') : one,
  );

const countOf = ({ rows }: JsonObject): number => (Array.isArray(rows) ? rows.length : 0);

const placesSql = (places: readonly number[]): string => `ARRAY[${places.join(', ')}]::bigint[]`;

/** How long a worker holds what it has taken without a sign of life, and how often it gives one, ms. */
const [leaseMs, signEveryMs] = [20_000, 4_000];
/** So long is waited for the database to hear that a worker leaves, ms. */
const farewellMs = 1000;

/** The signs of life of a worker. They have a connection of their own, and stand in no line: others take a silent worker's work. */
class Signs {
  readonly #address: DatabaseAddress;
  readonly #worker: string;
  #connection: Connection;
  #timer: NodeJS.Timeout | undefined;
  #pending: Promise<void> | undefined;
  #campaign: number | undefined;
  #hasCome = false;

  constructor(address: DatabaseAddress, worker: string) {
    this.#address = address;
    this.#worker = worker;
    this.#connection = new Connection(address);
  }

  /** A sign in SQL, which its caller asks. @param campaign what the worker works at from now on. */
  next(campaign?: number): string {
    this.#hasCome = true;
    this.#campaign = campaign;
    const until = `clock_timestamp() + interval '${leaseMs} milliseconds'`;
    return `INSERT INTO errand.workers (id, host, campaign, until)
        VALUES ('${this.#worker}', ${literal(hostname())}, ${campaign ?? 'NULL'}, ${until})
        ON CONFLICT (id) DO UPDATE SET until = excluded.until, campaign = excluded.campaign`;
  }

  begin(): void {
    this.#timer ??= setInterval(() => this.#give(), signEveryMs).unref();
  }

  /** No more signs. @param farewell SQL that is asked, where it can be soon. Never fails. */
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

  /** One at a time: a connection on which the last one was not answered is given up. */
  #give(): void {
    if (this.#pending) {
      this.#connection.drop();
      this.#connection = new Connection(this.#address);
    }
    const given = this.#connection.ask(this.next(this.#campaign), true).then(unheard, unheard);
    this.#pending = given;
    void given.then(() => {
      if (this.#pending === given) this.#pending = undefined;
    });
  }
}

/** The next sign says the same. */
const unheard = (): void => {};

/** Whose campaigns: those of another service or account have names of their own. */
export interface CampaignOwner {
  readonly baseUrl: string;
  readonly account: string;
}

/** A file that several workers upload. */
export interface Campaign extends CampaignOwner {
  readonly id: number;
  readonly name: string;
  /** How the key is shown with which it is uploaded. */
  readonly sentWith: string;
  /** `reading`: one worker reads and checks the file. `refused`: it may not be uploaded as it is. */
  readonly state: 'reading' | 'open' | 'refused' | 'done';
  /** What the file was read with. */
  readonly terms: JsonObject;
  /** What reading it came to, or why it was refused. */
  readonly facts: JsonObject;
  /** Where it is read at this moment; undefined where nobody reads it. */
  readonly readerHost: string | undefined;
  readonly isReader: boolean;
}

/** `check`: the service looks at the rows. `place`: they are ordered. */
export type ChunkKind = 'check' | 'place';

/** A part of the work. */
export interface Chunk {
  readonly kind: ChunkKind;
  readonly place: number;
  readonly body: JsonObject;
}

interface DoneChunk extends Omit<Chunk, 'kind'> {
  readonly result: JsonObject;
}

/** How far a campaign is. */
interface CampaignStanding {
  readonly state: Campaign['state'];
  /** Rows to be ordered, and those that are in a batch of the service. */
  readonly rows: number;
  readonly sent: number;
  /** Chunks of orders that are not done. */
  readonly open: number;
  /** That are at work now, this one among them. */
  readonly workers: number;
}

/** A JSON object of the database; an empty one for anything else. */
const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});

const states: readonly Campaign['state'][] = ['reading', 'open', 'refused', 'done'];
const stateOf = (value: unknown): Campaign['state'] => states.find((state) => state === value) ?? 'refused';

/** A campaign as it was read. */
const campaignOf = (row: DatabaseRow): Campaign => ({
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

/** Requests a second, where the service has never asked for fewer. */
const firstRate = 30;
const [leastRate, mostRate] = [0.05, 1000];
/** What of the rate is left where the service asks for fewer requests. */
const cut = 0.85;
/** What it grows by in a second, as a part of what it was cut to. */
const growth = 0.02;
/** A pause where the service asks for one and does not say how long, and the longest that it is granted, ms. */
const [pauseMs, longestPauseMs] = [1_000, 600_000];
/** Turns that are remembered, to tell how many were taken in the last second. */
const remembered = 200;
/** A turn that begins as soon is taken at once, ms. */
const nearMs = 3;

/** A request may leave now, or not before `waitMs` have passed. */
type Turn = { readonly at: number; readonly waitMs?: never } | { readonly waitMs: number };

/**
 * How many requests a second all workers may send to a service with one account: a row of the database, whose clock spaces
 * them. The service's refusals (429) lower it, and it grows again slowly.
 */
export class RequestBudget {
  readonly #connection: PatientConnection;
  readonly #where: string;
  readonly #owner: string;

  constructor(address: DatabaseAddress, { baseUrl, account }: CampaignOwner, signal: AbortSignal) {
    this.#connection = new PatientConnection(address, signal);
    this.#owner = `${literal(baseUrl)}, ${literal(account)}`;
    this.#where = `base_url = ${literal(baseUrl)} AND account = ${literal(account)}`;
  }

  /**
   * The budget is there. What the workers of another campaign were told still holds for all.
   * @param most requests a second that was set for a campaign; undefined where nothing was.
   */
  async begin({ id }: Pick<Campaign, 'id'>, most: number | undefined): Promise<void> {
    const limit = most ?? mostRate;
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

  /** Takes a turn where it is time for one. @returns when it was taken, s since the epoch by the database's clock. */
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
   * The service refused a request that had its turn at `at`: fewer from now on, and none before it asks for more.
   * What was taken before the last cut cuts no more: it is the same refusal. @param askedMs undefined where it did not say.
   */
  async cut(at: number, askedMs: number | undefined): Promise<void> {
    const pause = Math.min(longestPauseMs, Math.max(askedMs ?? pauseMs, 0));
    const isNew = `extract(epoch FROM cut_at) < ${at}`;
    const taken = `(SELECT count(*) FROM unnest(recent) AS turn WHERE turn > ${at} - 1 AND turn <= ${at})`;
    const lower = `greatest(${leastRate}, ${cut} * least(rate, greatest(1, ${taken} - 1)))`;
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
