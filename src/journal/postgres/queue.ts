import { hostname } from 'node:os';
import { isObject, type JsonObject } from '../../api/json.ts';
import type { DatabaseAddress } from '../../format/database-address.ts';
import { StorageError } from '../../platform/errors.ts';
import {
  type Campaign,
  type CampaignOwner,
  type CampaignStanding,
  type Chunk,
  type ChunkKind,
  campaignOf,
  type DoneChunk,
  objectOf,
  stateOf,
} from './campaign.ts';
import { Connection, jsonText, literal, newId } from './connect.ts';
import { explained, PatientConnection } from './patience.ts';

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
