import { realMs } from '../../platform/clock.ts';
import { setTimeout } from '../../platform/own-timers.ts';
import { loadSqlite, type Sqlite, type Statement } from '../../platform/sqlite/load.ts';
import type { OrderRecord } from '../orders/lifecycle/types.ts';
import type { Exchange } from '../server/request-log.ts';
import { foreignJson, withoutSecrets } from '../server/secrets.ts';
import type { Service } from '../server/service.ts';
import type { StoredRow } from '../store/store.ts';
import { shownAddress } from './parts.ts';
import { type TitleOf, titlesOf } from './products.ts';

/** Indexed kinds of records. Other kinds have few records, so a search reads those records from the store itself. */
const kinds = ['orders', 'deliveries', 'requests'] as const;
type Kind = (typeof kinds)[number];

/** Row numbers of the records found, newest first. */
export type Found = Readonly<Record<Kind, readonly number[]>>;

/** The range of row numbers whose records are all indexed. */
interface Range {
  newest: number;
  oldest: number;
}

interface Document {
  readonly number: number;
  readonly text: string;
}

/** Number of records indexed per transaction. */
const chunkSize = 40;
/** Duration of one round of background indexing, and pause after each round, both in ms. */
const [workMs, pauseMs] = [10, 30];
/** Maximum length, in characters, of an indexed text. Longer texts are cut. */
const maxTextLength = 4_000;
/** Maximum number of requests in the index. Older requests are removed. */
const maxRequests = 100_000;

/**
 * Full-text index of a served sandbox, for the console. The index has a private database without secrets, which SQLite
 * deletes on close. The index finds changes by reading the store, so writes to the store never wait for the index.
 */
export class SearchIndex {
  readonly #service: Service;
  readonly #database: Sqlite;
  readonly #statements = new Map<string, Statement>();
  #ranges!: Record<'orders' | 'deliveries' | 'requests', Range>;
  /** Maps the row number of each unfinished indexed order to the time of the order's next step. */
  #unfinished!: Map<number, number>;
  #interventions = 0;
  #generation: number;
  #isAtWork = false;

  /** @param file path of the database. By default, the database is temporary. */
  constructor(service: Service, file = '') {
    const Database = loadSqlite();
    this.#service = service;
    this.#database = new Database(file);
    this.#generation = service.store.generation;
    this.#database.exec(
      `PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
       ${kinds.map((kind) => `CREATE VIRTUAL TABLE ${kind} USING fts5 (text, tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3');`).join('\n')}`,
    );
    this.#begin(0);
  }

  /** Indexes new and changed records in the background, until all are indexed. */
  follow(): void {
    if (this.#isAtWork) return;
    this.#isAtWork = true;
    const work = async (): Promise<void> => {
      try {
        const isDone = await this.catchUp(workMs);
        if (isDone) this.#isAtWork = false;
        else setTimeout(() => void work(), pauseMs).unref();
      } catch (error) {
        this.#isAtWork = false;
        this.#service.report(error);
      }
    };
    void work();
  }

  /**
   * Indexes new and changed records. @param budgetMs limits the real time spent. @returns whether all records are
   * indexed.
   */
  async catchUp(budgetMs: number): Promise<boolean> {
    const end = realMs() + budgetMs;
    if (!this.#isSameStore()) this.#begin(this.#service.requests?.total ?? 0);
    const sources = [this.#changedOrders(), this.#orders(), this.#deliveries(), this.#requests()];
    for (const source of sources) {
      for (;;) {
        const [kind, documents] = await source();
        if (documents.length === 0) break;
        this.#write(kind, documents);
        if (realMs() > end) return false;
      }
    }
    return true;
  }

  /** Finds the records that contain all of the words. A word also matches longer words that start with it. */
  find(words: readonly string[], limit: number): Found {
    const match = words.map((word) => `"${word.replaceAll('"', '""')}"*`).join(' ');
    const of = (kind: Kind): number[] =>
      this.#prepared(`SELECT rowid FROM ${kind} WHERE ${kind} MATCH ? ORDER BY rowid DESC LIMIT ?`)
        .all(match, limit)
        .map((row) => Number((row as StoredRow).rowid));
    return { orders: of('orders'), deliveries: of('deliveries'), requests: of('requests') };
  }

  close(): void {
    this.#database.close();
  }

  /** @param firstRequest number of the last request to leave out. Only later requests are indexed. */
  #begin(firstRequest: number): void {
    const { store } = this.#service;
    const newest = (table: string): number =>
      Number(store.get(`SELECT coalesce(max(seq), 0) AS seq FROM ${table}`)?.seq);
    const fromNewest = (table: string): Range => ({ newest: newest(table), oldest: newest(table) + 1 });
    for (const kind of kinds) this.#database.exec(`DELETE FROM ${kind}`);
    this.#ranges = {
      orders: fromNewest('orders'),
      deliveries: fromNewest('deliveries'),
      requests: { newest: firstRequest, oldest: firstRequest + 1 },
    };
    this.#unfinished = new Map();
    this.#interventions = newest('interventions');
    this.#generation = store.generation;
  }

  /**
   * Whether the store still has the contents that were indexed. False after any process has emptied the store or
   * replaced its contents.
   */
  #isSameStore(): boolean {
    const { store } = this.#service;
    if (store.generation !== this.#generation) return false;
    const isThere = (table: string, { newest }: Range): boolean =>
      newest === 0 || store.get(`SELECT 1 FROM ${table} WHERE seq = ?`, newest) !== undefined;
    return isThere('orders', this.#ranges.orders) && isThere('deliveries', this.#ranges.deliveries);
  }

  #write(kind: Kind, documents: readonly Document[]): void {
    this.#database.exec('BEGIN');
    for (const { number, text } of documents) {
      if (kind === 'orders') this.#prepared('DELETE FROM orders WHERE rowid = ?').run(number);
      this.#prepared(`INSERT INTO ${kind} (rowid, text) VALUES (?, ?)`).run(
        number,
        text.slice(0, maxTextLength).toWellFormed(),
      );
    }
    if (kind === 'requests')
      this.#prepared('DELETE FROM requests WHERE rowid <= ? AND rowid > ?').run(
        this.#ranges.requests.newest - maxRequests,
        this.#ranges.requests.newest - maxRequests - 2 * chunkSize,
      );
    this.#database.exec('COMMIT');
  }

  #prepared(sql: string): Statement {
    const known = this.#statements.get(sql) ?? this.#database.prepare(sql);
    this.#statements.set(sql, known);
    return known;
  }

  /**
   * Reads the next rows of a table to index. New rows come first, then all older rows from the newest to the oldest.
   */
  #next(table: 'orders' | 'deliveries', columns: string): StoredRow[] {
    const range = this.#ranges[table];
    const { store } = this.#service;
    const added = store.all(
      `SELECT seq, ${columns} FROM ${table} WHERE seq > ? ORDER BY seq LIMIT ${chunkSize}`,
      range.newest,
    );
    if (added.length > 0) {
      range.newest = Number(added.at(-1)?.seq);
      return added;
    }
    const earlier = store.all(
      `SELECT seq, ${columns} FROM ${table} WHERE seq < ? ORDER BY seq DESC LIMIT ${chunkSize}`,
      range.oldest,
    );
    if (earlier.length > 0) range.oldest = Number(earlier.at(-1)?.seq);
    return earlier;
  }

  #orders() {
    return async (): Promise<[Kind, Document[]]> => [
      'orders',
      await this.#orderDocuments(this.#next('orders', orderColumns)),
    ];
  }

  async #orderDocuments(rows: readonly StoredRow[]): Promise<Document[]> {
    const orders = rows.map((row) => ({ row, record: JSON.parse(String(row.record)) as OrderRecord }));
    const urls = orders.flatMap(({ record }) => record.items.map(({ url }) => url));
    const titleOf = await titlesOf(this.#service, urls);
    return orders.map(({ row, record }) => {
      const number = Number(row.seq);
      if (row.next_due === null) this.#unfinished.delete(number);
      else this.#unfinished.set(number, Number(row.next_due));
      return { number, text: orderText(row, record, titleOf) };
    });
  }

  /** Returns the orders that changed after they were indexed, because they took a step or someone intervened. */
  #changedOrders() {
    const { store } = this.#service;
    const { newest, oldest } = this.#ranges.orders;
    const now = new Map(
      store
        .all('SELECT seq, next_due FROM orders WHERE next_due IS NOT NULL')
        .map((row) => [Number(row.seq), Number(row.next_due)]),
    );
    const isIndexed = (seq: number): boolean => seq >= oldest && seq <= newest;
    const interventions = store.all(
      'SELECT i.seq, o.seq AS order_seq FROM interventions i LEFT JOIN orders o ON o.id = i.subject WHERE i.seq > ?',
      this.#interventions,
    );
    this.#interventions = interventions.reduce(
      (last, { seq }) => Math.max(last, Number(seq)),
      this.#interventions,
    );
    const changed = new Set([
      ...[...this.#unfinished].filter(([seq, due]) => now.get(seq) !== due).map(([seq]) => seq),
      ...[...now.keys()].filter((seq) => isIndexed(seq) && !this.#unfinished.has(seq)),
      ...interventions.flatMap(({ order_seq: seq }) =>
        seq !== null && isIndexed(Number(seq)) ? [Number(seq)] : [],
      ),
    ]);
    const left = [...changed];
    return async (): Promise<[Kind, Document[]]> => {
      const some = left.splice(0, chunkSize);
      if (some.length === 0) return ['orders', []];
      const rows = store.all(
        `SELECT seq, ${orderColumns} FROM orders WHERE seq IN (${some.map(() => '?').join(', ')})`,
        ...some,
      );
      return ['orders', await this.#orderDocuments(rows)];
    };
  }

  #deliveries() {
    return async (): Promise<[Kind, Document[]]> => [
      'deliveries',
      this.#next('deliveries', 'id, event, event_id, order_id, url, body').map((row) => ({
        number: Number(row.seq),
        text: [
          row.id,
          row.event,
          row.event_id,
          row.order_id,
          shownAddress(String(row.url)),
          wordsIn(foreignJson(String(row.body))),
        ].join(' '),
      })),
    ];
  }

  #requests() {
    const { requests: log } = this.#service;
    const range = this.#ranges.requests;
    return async (): Promise<[Kind, Document[]]> => {
      const upTo = Math.min(log?.total ?? 0, range.newest + chunkSize);
      const added =
        log?.latest(upTo - range.newest, upTo + 1).filter(({ number }) => number > range.newest) ?? [];
      range.newest = Math.max(range.newest, upTo);
      return [
        'requests',
        added.map((exchange) => ({ number: exchange.number, text: requestText(exchange) })),
      ];
    };
  }
}

const orderColumns = 'id, record, idempotency_key, next_due';

const orderText = (row: StoredRow, record: OrderRecord, titleOf: TitleOf): string =>
  [
    row.id,
    ...record.items.map(({ url }) => withoutSecrets(titleOf(url))),
    withoutSecrets(String(row.idempotency_key)),
    ...record.merchant_order_ids.map((number) => endsOf(number.replaceAll('-', ''))),
    ...record.tracking_numbers.map(({ tracking_number }) => endsOf(tracking_number)),
    wordsIn(foreignJson(JSON.stringify(record))),
  ].join(' ');

/** Every end of a number from some length on: the beginning of an end is a middle of the number. */
const endsOf = (number: string): string =>
  Array.from({ length: Math.max(1, Math.min(number.length, maxNumberLength) - minMiddle + 1) }, (_, at) =>
    number.slice(at, maxNumberLength),
  ).join(' ');

const [minMiddle, maxNumberLength] = [4, 40];

function requestText({ request, orderId, code, rule, key, sent, received, instead }: Exchange): string {
  const { method, target, status, fault } = request;
  const client = typeof instead === 'object' && instead ? instead : received;
  const isFailed = status === null || status >= 400;
  return [
    method,
    target,
    status ?? 'broken off',
    orderId,
    code,
    key,
    fault !== null && `fault ${fault} ${rule}`,
    wordsIn(sent.body.text),
    isFailed && wordsIn(client?.body.text ?? null),
  ]
    .filter(Boolean)
    .join(' ');
}

const timestamp = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;

/**
 * The distinct values in redacted JSON. Names are included only below `metadata`, because the user chose them.
 * Truncated JSON is returned unchanged.
 */
function wordsIn(json: string | null): string {
  if (json === null) return '';
  const words = new Set<string>();
  const read = (value: unknown, isOwn = false): void => {
    if (typeof value === 'string' && !timestamp.test(value)) words.add(value);
    else if (typeof value === 'number') words.add(String(value));
    else if (Array.isArray(value)) for (const each of value) read(each, isOwn);
    else if (typeof value === 'object' && value !== null)
      for (const [name, each] of Object.entries(value)) {
        if (isOwn) words.add(name);
        read(each, isOwn || name === 'metadata');
      }
  };
  try {
    read(JSON.parse(json));
  } catch {
    return json;
  }
  return [...words].join(' ');
}

const indexes = new WeakMap<Service, SearchIndex>();

/** Returns the index of a sandbox. Creates it when the console is first used. */
export function searchIndexOf(service: Service): SearchIndex {
  const known = indexes.get(service) ?? new SearchIndex(service);
  indexes.set(service, known);
  return known;
}
