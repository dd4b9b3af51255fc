/** A database table of which every machine has a copy. */
export interface MirroredTable {
  readonly name: string;
  /** Primary key columns. */
  readonly key: readonly string[];
  readonly texts: readonly string[];
  /** Integers, within 2^53. */
  readonly numbers: readonly string[];
  /** Rows are never updated or deleted. */
  readonly isAppendOnly?: boolean;
}

/** A group of tables that one lock guards. The tables of a group are read and changed together. */
export interface Mirror {
  /** Name of the group's row in `heads`. That row is the group's lock and counts the group's changes. */
  readonly name: 'journal' | 'uploads';
  readonly tables: readonly MirroredTable[];
}

/** Active processes on any machine. Each row is valid until a time on the database's clock, in ms since the epoch. */
const leases: MirroredTable = {
  name: 'leases',
  key: ['id'],
  texts: ['id', 'host', 'turn'],
  numbers: ['pid', 'until'],
};

export const createLeases =
  'CREATE TABLE leases (id TEXT PRIMARY KEY, host TEXT NOT NULL, pid INTEGER NOT NULL, until INTEGER NOT NULL, turn TEXT NOT NULL) STRICT';

export const journalMirror: Mirror = {
  name: 'journal',
  tables: [
    {
      name: 'intents',
      key: ['key', 'base_url'],
      texts: [
        ...['key', 'base_url', 'state', 'operation', 'profile', 'sent_with', 'account', 'key_origin'],
        ...['body_hash', 'order_id', 'code', 'message', 'process_started', 'created_at', 'settled_at'],
        ...['payment', 'credential', 'checksum', 'body'],
      ],
      numbers: ['pid', 'live', 'twin'],
    },
    { name: 'tally', key: ['id'], texts: ['rows', 'live', 'twins', 'checksum'], numbers: ['id', 'count'] },
    {
      name: 'audit',
      key: ['number'],
      texts: [
        ...['time', 'kind', 'actor', 'job', 'command', 'profile', 'service', 'key', 'order_id'],
        ...['currency', 'detail', 'previous', 'hash'],
      ],
      numbers: ['number', 'amount_cents'],
      isAppendOnly: true,
    },
    {
      name: 'reservations',
      key: ['key', 'base_url', 'account'],
      texts: [
        ...['key', 'base_url', 'account', 'state', 'order_id', 'process_started', 'override'],
        ...['intents', 'facts', 'approval', 'checksum'],
      ],
      numbers: ['at', 'cents', 'fee', 'counted', 'rehearsal', 'pid'],
    },
    {
      name: 'approvals',
      key: ['id'],
      texts: [
        ...['id', 'terms', 'asked_at', 'state', 'decided_at', 'decided_by', 'signature', 'request'],
        'checksum',
      ],
      numbers: [],
    },
    { name: 'facts', key: ['name'], texts: ['name', 'value'], numbers: [] },
    {
      name: 'quotes',
      key: ['id'],
      texts: ['id', 'key', 'used', 'made', 'quote', 'checksum'],
      numbers: ['until'],
    },
    {
      name: 'grants',
      key: ['order_id', 'base_url'],
      texts: ['order_id', 'base_url', 'api_key', 'receipt', 'created_at'],
      numbers: [],
    },
    leases,
  ],
};

export const uploadsMirror: Mirror = {
  name: 'uploads',
  tables: [
    {
      name: 'layouts',
      key: ['key'],
      texts: ['key', 'headings', 'numbers', 'written_at', 'file_headings'],
      numbers: [],
    },
    {
      name: 'uploads',
      key: ['serial'],
      texts: [...['base_url', 'account', 'name', 'identity', 'file', 'source', 'created_at', 'written_at']],
      numbers: ['serial', 'rows'],
    },
    {
      name: 'upload_batches',
      key: ['serial', 'key'],
      texts: ['key', 'id'],
      numbers: ['serial', 'place'],
    },
    { name: 'row_blocks', key: ['hash'], texts: ['hash', 'rows'], numbers: [] },
    {
      name: 'upload_rows',
      key: ['serial', 'place'],
      texts: ['hash', 'left_out'],
      numbers: ['serial', 'place'],
    },
  ],
};

export const columnsOf = ({ texts, numbers }: MirroredTable): readonly string[] => [...texts, ...numbers];
export const quoted = (names: readonly string[]): string => names.map((name) => `"${name}"`).join(', ');
