import { createHash } from 'node:crypto';
import { type JsonObject, jsonIn } from '../api/json.ts';
import { copyFolder, type Sharing } from '../format/database-address.ts';
import type { Database, Freshness, StoredRow } from '../platform/sqlite/database.ts';
import { type OpenOptions, openStateDatabase } from './database.ts';
import { uploadsFile } from './uploads-file.ts';

/** Maps the rows of a batch to their source file. */
export interface TableLayout {
  /** Column names as sent, in file order. */
  readonly headings: readonly string[];
  /** Column names as in the file's header row; undefined if unknown. */
  readonly fileHeadings?: readonly string[] | undefined;
  /** For each row of the batch, the number of the row in the spreadsheet. */
  readonly numbers: readonly number[];
}

/** Owner of a set of uploads. Upload names are unique per service and account. */
export interface UploadOwner {
  readonly baseUrl: string;
  readonly account: string;
}

/** The rows of a file. They are ordered as one unit. */
export interface NewUpload {
  /** Identity of the upload: a hash over the keys of its rows, in order. */
  readonly identity: string;
  /** File name, as used in messages and at the service. */
  readonly file: string;
  readonly rows: number;
  /** What another command needs to continue the upload. */
  readonly source: JsonObject;
}

/** Some rows of an uploaded file, in order. */
export interface RowBlock {
  /**
   * The cells of the rows. Blocks with the same text are stored once, because a file that grows is uploaded again and
   * again.
   */
  readonly rows: string;
  /** What was decided about the rows that are in no batch. */
  readonly leftOut: string;
}

export interface SavedUpload extends Omit<NewUpload, 'identity'> {
  readonly serial: number;
  readonly name: string;
  /** ISO 8601. */
  readonly createdAt: string;
  /** In the order first sent. */
  readonly batches: readonly SavedBatch[];
}

export interface SavedBatch {
  /** Journal key. */
  readonly key: string;
  /** Id that the service gave the batch; undefined if no response was recorded here. */
  readonly id: string | undefined;
  readonly layout: TableLayout;
}

/** How long uploads are stored, in ms. Long enough to report on a month after the month has ended. */
const retentionMs = 100 * 24 * 3600 * 1000;

const migrations = [
  `CREATE TABLE layouts (
     key TEXT PRIMARY KEY, headings TEXT NOT NULL, numbers TEXT NOT NULL, written_at TEXT NOT NULL) STRICT;
   CREATE INDEX layouts_written ON layouts (written_at)`,
  `CREATE TABLE uploads (
     serial INTEGER PRIMARY KEY, base_url TEXT NOT NULL, account TEXT NOT NULL, name TEXT NOT NULL,
     identity TEXT NOT NULL, file TEXT NOT NULL, rows INTEGER NOT NULL, source TEXT NOT NULL,
     created_at TEXT NOT NULL, written_at TEXT NOT NULL,
     UNIQUE (base_url, account, name), UNIQUE (base_url, account, identity)) STRICT;
   CREATE TABLE upload_batches (
     serial INTEGER NOT NULL, place INTEGER NOT NULL, key TEXT NOT NULL, id TEXT,
     PRIMARY KEY (serial, key)) STRICT;
   CREATE INDEX upload_batches_id ON upload_batches (id)`,
  'ALTER TABLE layouts ADD COLUMN file_headings TEXT',
  `CREATE TABLE row_blocks (hash TEXT PRIMARY KEY, rows TEXT NOT NULL) STRICT;
   CREATE TABLE upload_rows (
     serial INTEGER NOT NULL, place INTEGER NOT NULL, hash TEXT NOT NULL, left_out TEXT NOT NULL,
     PRIMARY KEY (serial, place)) STRICT;
   CREATE INDEX upload_rows_hash ON upload_rows (hash)`,
];

/** Uploads known on this machine: the names of the uploads, and their batches by journal key. */
export class Uploads {
  readonly #database: Database;
  readonly #now: () => number;

  private constructor(database: Database, now: () => number) {
    this.#database = database;
    this.#now = now;
  }

  /** @throws StorageError if the store is not writable. */
  static async open(
    folder: string,
    now: () => number,
    { shared, ...given }: OpenOptions & { readonly shared?: Sharing | undefined } = {},
  ): Promise<Uploads> {
    const options = { ...given, knowsOrders: true };
    if (!shared) return new Uploads(await openStateDatabase(uploadsFile(folder), migrations, options), now);
    const { openShared } = await import('./postgres/open.ts');
    const file = uploadsFile(copyFolder(folder, shared.address));
    return new Uploads(await openShared(file, migrations, 'uploads', shared, options), now);
  }

  /**
   * Records an upload before its first batch is sent. Uploading the same rows again continues that upload under the
   * same name.
   * @param preferredName gets a number appended if another upload already has the name.
   * @param blocks are the rows of the file. If undefined, rows that were stored before stay.
   */
  begin(
    { baseUrl, account }: UploadOwner,
    preferredName: string,
    upload: NewUpload,
    blocks?: readonly RowBlock[],
  ): Promise<SavedUpload> {
    const { identity, file, rows, source } = upload;
    const now = new Date(this.#now()).toISOString();
    return this.#database.transaction(() => {
      this.#sweep();
      const { name } = this.nameFor({ baseUrl, account }, preferredName, identity);
      this.#database.run(
        `INSERT INTO uploads (base_url, account, name, identity, file, rows, source, created_at, written_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (base_url, account, identity)
         DO UPDATE SET file = excluded.file, rows = excluded.rows, source = excluded.source, written_at = excluded.written_at`,
        ...[baseUrl, account, name, identity, file, rows, JSON.stringify(source), now, now],
      );
      const saved = this.named({ baseUrl, account }, name);
      if (!saved) throw new Error(`the upload ${name} is not among those that were written`);
      if (blocks) this.#saveRows(saved.serial, blocks);
      return saved;
    });
  }

  #saveRows(serial: number, blocks: readonly RowBlock[]): void {
    this.#database.run('DELETE FROM upload_rows WHERE serial = ?', serial);
    for (const [place, { rows, leftOut }] of blocks.entries()) {
      const hash = createHash('sha256').update(rows).digest('hex');
      this.#database.run('INSERT OR IGNORE INTO row_blocks (hash, rows) VALUES (?, ?)', hash, rows);
      this.#database.run(
        'INSERT INTO upload_rows (serial, place, hash, left_out) VALUES (?, ?, ?, ?)',
        ...[serial, place, hash, leftOut],
      );
    }
  }

  /** The rows of an upload's file, in order; empty if this machine does not know them. */
  rowsOf(serial: number): RowBlock[] {
    return this.#database
      .all(
        'SELECT rows, left_out FROM upload_rows JOIN row_blocks USING (hash) WHERE serial = ? ORDER BY place',
        serial,
      )
      .map((row) => ({ rows: String(row.rows), leftOut: String(row.left_out) }));
  }

  /** The name of a known upload, or the name that a new upload would get. */
  nameFor(
    { baseUrl, account }: UploadOwner,
    preferredName: string,
    identity: string,
  ): { readonly name: string; readonly isKnown: boolean } {
    const where = 'FROM uploads WHERE base_url = ? AND account = ?';
    const known = this.#database.get(`SELECT name ${where} AND identity = ?`, baseUrl, account, identity);
    if (known) return { name: String(known.name), isKnown: true };
    const isTaken = (name: string): boolean =>
      this.#database.get(`SELECT 1 AS taken ${where} AND name = ?`, baseUrl, account, name) !== undefined;
    let name = preferredName;
    for (let count = 2; isTaken(name); count += 1) name = `${preferredName}-${count}`;
    return { name, isKnown: false };
  }

  /**
   * Stores the layout of a batch before the batch is sent. If the same rows are uploaded again, the new layout replaces
   * the old one.
   * @param serial is the serial of the batch's upload.
   */
  saveBatch(
    key: string,
    { headings, fileHeadings, numbers }: TableLayout,
    serial: number | undefined,
  ): Promise<void> {
    return this.#database.transaction(() => {
      const now = new Date(this.#now()).toISOString();
      if (numbers.length > 0)
        this.#database.run(
          'INSERT OR REPLACE INTO layouts (key, headings, numbers, written_at, file_headings) VALUES (?, ?, ?, ?, ?)',
          ...[key, JSON.stringify(headings), JSON.stringify(numbers), now],
          fileHeadings === undefined ? null : JSON.stringify(fileHeadings),
        );
      if (serial === undefined) return this.#sweep();
      this.#database.run(
        `INSERT OR IGNORE INTO upload_batches (serial, place, key)
         VALUES (?, (SELECT count(*) FROM upload_batches WHERE serial = ?), ?)`,
        ...[serial, serial, key],
      );
      this.#database.run('UPDATE uploads SET written_at = ? WHERE serial = ?', now, serial);
    });
  }

  /** Stores the id that the service gave a batch. It is needed if the journal record has been purged. */
  made(key: string, id: string): Promise<void> {
    return this.#database.transaction(() => {
      this.#database.run('UPDATE upload_batches SET id = ? WHERE key = ?', id, key);
    });
  }

  /** Id that the service gave a batch; undefined if this machine does not know it. @param key is the journal key. */
  idOf(key: string): string | undefined {
    const row = this.#database.get('SELECT id FROM upload_batches WHERE key = ? AND id IS NOT NULL', key);
    return row && String(row.id);
  }

  /** The layout of a batch; undefined if the batch was not uploaded from here, or was uploaded too long ago. */
  layoutOf(key: string): TableLayout | undefined {
    const row = this.#database.get('SELECT headings, numbers, file_headings FROM layouts WHERE key = ?', key);
    return row && layoutIn(row);
  }

  named({ baseUrl, account }: UploadOwner, name: string): SavedUpload | undefined {
    const row = this.#database.get(
      'SELECT * FROM uploads WHERE base_url = ? AND account = ? AND name = ?',
      ...[baseUrl, account, name],
    );
    return row && this.#uploadIn(row);
  }

  /** Newest first. */
  list({ baseUrl, account }: UploadOwner): SavedUpload[] {
    return this.#database
      .all(
        'SELECT * FROM uploads WHERE base_url = ? AND account = ? ORDER BY created_at DESC, serial DESC',
        ...[baseUrl, account],
      )
      .map((row) => this.#uploadIn(row));
  }

  /** The latest upload that a batch belongs to. @param key is the journal key. */
  ofBatch(key: string): Pick<SavedUpload, 'serial' | 'name'> | undefined {
    const row = this.#database.get(
      'SELECT serial, name FROM upload_batches JOIN uploads USING (serial) WHERE key = ? ORDER BY serial DESC',
      key,
    );
    return row && { serial: Number(row.serial), name: String(row.name) };
  }

  /** Same as the journal's `refresh`. @throws StorageError. */
  refresh(when?: Freshness): Promise<void> {
    return this.#database.refresh(when);
  }

  close(): void | Promise<void> {
    return this.#database.close();
  }

  #uploadIn(row: StoredRow): SavedUpload {
    const serial = Number(row.serial);
    const batches = this.#database.all(
      `SELECT key, id, headings, numbers, file_headings FROM upload_batches LEFT JOIN layouts USING (key)
       WHERE serial = ? ORDER BY place`,
      serial,
    );
    const source = jsonIn(row.source);
    return {
      ...{ serial, name: String(row.name), file: String(row.file), rows: Number(row.rows) },
      source: typeof source === 'object' && source !== null ? { ...source } : {},
      createdAt: String(row.created_at),
      batches: batches.map((batch) => ({
        key: String(batch.key),
        id: typeof batch.id === 'string' ? batch.id : undefined,
        layout: layoutIn(batch) ?? { headings: [], numbers: [] },
      })),
    };
  }

  #sweep(): void {
    const since = new Date(this.#now() - retentionMs).toISOString();
    this.#database.run('DELETE FROM layouts WHERE written_at < ?', since);
    for (const table of ['upload_batches', 'upload_rows'])
      this.#database.run(
        `DELETE FROM ${table} WHERE serial IN (SELECT serial FROM uploads WHERE written_at < ?)`,
        since,
      );
    const { changes } = this.#database.run('DELETE FROM uploads WHERE written_at < ?', since);
    if (changes > 0)
      this.#database.run('DELETE FROM row_blocks WHERE hash NOT IN (SELECT hash FROM upload_rows)');
  }
}

function layoutIn(row: StoredRow): TableLayout | undefined {
  if (typeof row.headings !== 'string' || typeof row.numbers !== 'string') return undefined;
  const [headings, numbers] = [jsonIn(row.headings), jsonIn(row.numbers)];
  if (!Array.isArray(headings) || !Array.isArray(numbers)) return undefined;
  const own = jsonIn(row.file_headings);
  return {
    headings: headings.map(String),
    numbers: numbers.map(Number),
    ...(Array.isArray(own) && own.length === headings.length && { fileHeadings: own.map(String) }),
  };
}
