import { isDeepStrictEqual } from 'node:util';
import { isObject, jsonIn } from '../../../src/api/json.ts';
import { canonicalJson, sha256 } from '../../../src/format/canonical.ts';
import { firstPrevious, hashOf, recordOfRow } from '../../../src/journal/audit-record.ts';
import { contentHash } from '../../../src/journal/content.ts';
import { type IntentRow, withChecksum } from '../../../src/journal/intent-row.ts';
import { journalMirror, uploadsMirror } from '../../../src/journal/postgres/tables.ts';

export type Row = Readonly<Record<string, unknown>>;
export type State = Readonly<Record<string, readonly Row[]>>;

/** What whoever has the role of the database does to it. */
export interface Case {
  /** The field or the row, and what is done to it. */
  readonly name: string;
  readonly table: string;
  /** Table, kind of the row where fields of some kinds alone decide something, column, path within JSON. */
  readonly field: string;
  /** The database, with all that nobody needs a key for made to fit. */
  state(): State;
  /** Only a machine that has seen more can notice it. */
  readonly isOldState?: boolean;
}

interface Scenes {
  readonly now: State;
  readonly older: State;
  readonly elsewhere: State;
  /** A host of whoever has the role. */
  readonly foreign: { readonly url: string };
}

/** Each field of a row of each kind, and each row: altered, swapped, deleted, from another schema, of an older state. */
export function casesOf(scenes: Scenes): Case[] {
  return Object.keys(scenes.now)
    .flatMap((table) => [
      ...fieldCases(scenes, table),
      ...rowCases(scenes, table),
      ...tableCases(scenes, table),
    ])
    .concat(wholeCases(scenes));
}

const isNumber = (value: unknown): value is number => typeof value === 'number';

/** What tells the kinds of rows of a table apart; rows of one kind are alike. */
const kinds: Readonly<Record<string, (row: Row) => unknown>> = {
  audit: ({ kind }) => kind,
  intents: ({ operation, state }) => [operation, state],
  reservations: ({ state, approval, order_id: id }) => [state, approval !== null, id !== null],
  approvals: ({ state }) => state,
  quotes: ({ used }) => used !== null,
  attempts: ({ operation, state, reference }) => [operation, state, reference !== null],
  campaign_chunks: ({ kind, result, worker }) => [kind, result !== null, worker !== null],
  facts: ({ name }) => name,
  heads: ({ name }) => name,
};

/** Kinds of which some decide something, and others do not. */
const labels: Readonly<Record<string, string>> = {
  ...{ audit: 'kind', approvals: 'state', intents: 'state', facts: 'name', heads: 'name' },
};

const fieldOf = (table: string, row: Row, ...path: readonly unknown[]): string => {
  const { [table]: label } = labels;
  return [table, ...(label === undefined ? [] : [row[label]]), ...path].join('.');
};

function kindsOf(table: string, rows: readonly Row[]): Row[] {
  const kind = kinds[table] ?? (() => '');
  const found = new Map<string, Row>();
  for (const row of rows) found.set(JSON.stringify(kind(row)), row);
  return [...found.values()];
}

function fieldCases(scenes: Scenes, table: string): Case[] {
  const { now } = scenes;
  return kindsOf(table, now[table] ?? []).flatMap((row) =>
    Object.keys(row).flatMap((column) => [
      ...valueCases(scenes, table, row, column),
      ...leafCases(scenes, table, row, column),
      ...swapCases(scenes, table, row, column),
    ]),
  );
}

function valueCases(scenes: Scenes, table: string, row: Row, column: string): Case[] {
  const pool = [scenes.now, scenes.older, scenes.elsewhere].flatMap((state) =>
    (state[table] ?? []).map((one) => one[column]),
  );
  const values = valuesFor(
    row[column],
    [...pool, ...(words[`${table}.${column}`] ?? [])],
    scenes.foreign.url,
  );
  return values.flatMap((value, at) => {
    const field = fieldOf(table, row, column);
    const name = `${field} of ${nameOf(table, row)} is ${shown(value)}`;
    const changed = { ...row, [column]: value };
    const own = withRow(scenes.now, table, row, changed);
    const fits: Case = { name, table, field, state: () => sent(scenes.now, fitting(own, { table, column })) };
    const raw: Case = {
      ...fits,
      name: `${name}, with no checksum that fits`,
      state: () => sent(scenes.now, own),
    };
    if (!isStorable(own, table)) return [];
    return at > 0 || isDeepStrictEqual(fitting(own, { table, column }), own) ? [fits] : [fits, raw];
  });
}

/** Whether the database has room for these rows: no two have one key. */
const isStorable = (state: State, table: string): boolean => {
  const rows = state[table] ?? [];
  return keys[table]?.length === 0 || new Set(rows.map((row) => keyOf(table, row))).size === rows.length;
};

/** Values within JSON: amounts, addresses, terms. */
function leafCases(scenes: Scenes, table: string, row: Row, column: string): Case[] {
  const { before, value } = readJson(row[column]);
  if (value === undefined) return [];
  const isText = typeof row[column] === 'string';
  return leavesOf(value).flatMap(([path, leaf]) => {
    const others = leaf === undefined ? [] : valuesFor(leaf, [], scenes.foreign.url).slice(0, 1);
    return [...others, undefined].map((other): Case => {
      const changed = replaced(value, path, other);
      const text = isText ? `${before(canonicalJson(changed))}${canonicalJson(changed)}` : changed;
      const own = withRow(scenes.now, table, row, { ...row, [column]: text });
      const field = fieldOf(table, row, column, ...path.filter((one) => !isNumber(one)));
      const name = `${field} of ${nameOf(table, row)} is ${other === undefined ? 'gone' : shown(other)}`;
      return { name, table, field, state: () => sent(scenes.now, fitting(own, { table, column })) };
    });
  });
}

function swapCases(scenes: Scenes, table: string, row: Row, column: string): Case[] {
  const all = scenes.now[table] ?? [];
  const other = all.findLast((one) => one !== row && !isDeepStrictEqual(one[column], row[column]));
  if (!other) return [];
  const field = fieldOf(table, row, column);
  const swapped = withRow(
    withRow(scenes.now, table, row, { ...row, [column]: other[column] }),
    ...[table, other, { ...other, [column]: row[column] }],
  );
  const name = `${field} of ${nameOf(table, row)} and of ${nameOf(table, other)} are swapped`;
  if (!isStorable(swapped, table)) return [];
  return [{ name, table, field, state: () => sent(scenes.now, fitting(swapped, { table, column })) }];
}

function rowCases({ now, older, elsewhere }: Scenes, table: string): Case[] {
  const rows = now[table] ?? [];
  const caseOf = (row: Row, what: string, changed: readonly Row[]): Case => ({
    ...{ name: `a row of ${table} ${what}: ${nameOf(table, row)}`, table, field: fieldOf(table, row, what) },
    state: () => sent(now, fitting({ ...now, [table]: changed }, { table })),
  });
  const deleted = rows.map((row) =>
    caseOf(
      row,
      'is deleted',
      rows.filter((one) => one !== row),
    ),
  );
  const replayed = kindsOf(table, elsewhere[table] ?? []).map((row) =>
    caseOf(row, 'comes from another schema', withReplayed(table, rows, row)),
  );
  const back = (older[table] ?? []).flatMap((row) => {
    const same = rows.find((one) => keyOf(table, one) === keyOf(table, row));
    return same && !isDeepStrictEqual(same, row)
      ? [
          caseOf(
            row,
            'is as it was',
            rows.map((one) => (one === same ? row : one)),
          ),
        ]
      : [];
  });
  return [...deleted, ...replayed, ...back];
}

function tableCases({ now, older, elsewhere }: Scenes, table: string): Case[] {
  const others: [what: string, rows: readonly Row[]][] = [
    ['is empty', []],
    ['is as it was', older[table] ?? []],
    ['is that of another schema', elsewhere[table] ?? []],
  ];
  return others
    .filter(([, rows]) => !isDeepStrictEqual(rows, now[table]))
    .map(([what, rows]) => ({
      ...{ name: `the table ${table} ${what}`, table, field: `${table}.all.${what}` },
      state: () => sent(now, fitting({ ...now, [table]: rows }, { table })),
    }));
}

/** All of it put back, and all but what counts the changes. */
function wholeCases({ now, older }: Scenes): Case[] {
  const counting = { heads: now.heads ?? [], schema: now.schema ?? [] };
  return [
    { name: 'everything is as it was', table: '*', field: '*', isOldState: true, state: () => older },
    {
      ...{ name: 'everything is as it was, with newer numbers', table: '*', field: '*', isOldState: true },
      state: () => sent(now, { ...older, ...counting }),
    },
  ];
}

/** Values that a column may have, which no row here has. */
const words: Readonly<Record<string, readonly unknown[]>> = {
  'intents.state': ['intended', 'responded', 'reported', 'refused', 'forgotten'],
  'intents.operation': ['order.create', 'agent.order.create', 'return.create'],
  'reservations.state': ['held', 'settled', 'released'],
  'approvals.state': ['open', 'approved', 'denied'],
  'approvals.decided_by': ['the terminal of ada@desk'],
  'campaigns.state': ['reading', 'open', 'done', 'refused'],
  'attempts.state': ['unsent', 'sent', 'placed', 'failed', 'intended', 'refused'],
  'audit.kind': ['refused', 'responded', 'given_up', 'moved_out', 'moved_in', 'resumed', 'counted'],
  'campaigns.name': ['other'],
};

/** Other values of the same kind. */
function valuesFor(value: unknown, pool: readonly unknown[], foreign: string): unknown[] {
  const others = pool.filter((one) => !isDeepStrictEqual(one, value) && typeof one === typeof value);
  const distinct = [...new Map(others.map((one) => [JSON.stringify(one), one])).values()];
  const some = distinct.length > 6 ? distinct.slice(-1) : distinct;
  return [...ofSameKind(value, foreign), ...some];
}

const dayMs = 24 * 3600 * 1000;

function ofSameKind(value: unknown, foreign: string): unknown[] {
  if (isNumber(value)) return [value + 100_000, ...(value === 0 ? [1] : [0])];
  if (typeof value === 'boolean') return [!value];
  if (typeof value !== 'string' || readJson(value).value !== undefined) return [];
  if (/^https?:\/\//.test(value)) return [value.replace(/^https?:\/\/[^/]+/, foreign)];
  if (/^\d{4}-\d\d-\d\dT/.test(value) && !Number.isNaN(Date.parse(value)))
    return [-40, 40].map((days) => new Date(Date.parse(value) + days * dayMs).toISOString());
  if (/^[0-9a-f]{12,}$/.test(value)) return [`${value.slice(0, -1)}${value.endsWith('0') ? '1' : '0'}`];
  return [`${value} 2`];
}

/** The JSON of a value, and what stands before its text. */
function readJson(stored: unknown): { readonly value: unknown; before(text: string): string } {
  if (typeof stored === 'object' && stored !== null) return { value: stored, before: () => '' };
  if (typeof stored !== 'string') return { value: undefined, before: () => '' };
  // A policy stands after its checksum.
  const [, checksum] = /^([0-9a-f]{64}) \{/.exec(stored) ?? [];
  const read = jsonIn(checksum === undefined ? stored : stored.slice(65));
  const value = typeof read === 'object' && read !== null ? read : undefined;
  return { value, before: (text) => (checksum === undefined ? '' : `${sha256(text)} `) };
}

type Path = readonly (string | number)[];

/** Each value in JSON that has no parts; of a list of many, the first and the last. */
function leavesOf(value: unknown, path: Path = []): [Path, unknown][] {
  if (Array.isArray(value)) {
    const places = [...new Set([0, value.length - 1])].filter((at) => at >= 0 && at < value.length);
    return places.flatMap((at) => leavesOf(value[at], [...path, at]));
  }
  if (isObject(value)) return Object.keys(value).flatMap((name) => leavesOf(value[name], [...path, name]));
  return path.length === 0 ? [] : [[path, value ?? undefined]];
}

/** A copy with one part changed, in the order that it has; undefined takes it out. */
function replaced(value: unknown, [first, ...rest]: Path, other: unknown): unknown {
  if (first === undefined) return other;
  if (Array.isArray(value))
    return value.flatMap((one, at) => {
      if (at !== first) return [one];
      const changed = replaced(one, rest, other);
      return changed === undefined ? [] : [changed];
    });
  return Object.fromEntries(
    Object.entries(Object(value)).flatMap(([name, one]) => {
      const changed = name === first ? replaced(one, rest, other) : one;
      return changed === undefined && name === first ? [] : [[name, changed]];
    }),
  );
}

const withRow = (state: State, table: string, row: Row, changed: Row): State => ({
  ...state,
  [table]: (state[table] ?? []).map((one) => (one === row ? changed : one)),
});

/** Puts a row in, in place of the one with its key. Entries of a chain come last. */
function withReplayed(table: string, rows: readonly Row[], row: Row): Row[] {
  if (table === 'audit') return [...rows, { ...row, number: rows.length + 1 }];
  if (table === 'attempts' || table === 'attempt_accounts') return [...rows, { ...row, ...freeNumber(rows) }];
  return [...rows.filter((one) => keyOf(table, one) !== keyOf(table, row)), row];
}

function freeNumber(rows: readonly Row[]): Row {
  const name = rows.some((row) => 'serial' in row) ? 'serial' : 'id';
  return { [name]: Math.max(...rows.map((row) => Number(row[name]))) + 1 };
}

const mirrors = [journalMirror, uploadsMirror];
const keys: Readonly<Record<string, readonly string[]>> = {
  ...Object.fromEntries(mirrors.flatMap(({ tables }) => tables.map(({ name, key }) => [name, key]))),
  ...{ heads: ['name'], removed: ['head', 'name', 'key'], schema: [], workers: ['id'], campaigns: ['id'] },
  ...{ campaign_chunks: ['campaign', 'kind', 'place'], request_budgets: ['base_url', 'account'] },
  ...{
    attempts: ['serial'],
    attempt_accounts: ['id'],
    attempt_parts: ['part', 'attempt'],
    attempt_settings: ['id'],
  },
};

const keyOf = (table: string, row: Row): string =>
  JSON.stringify((keys[table] ?? []).map((name) => row[name]));

const nameOf = (table: string, row: Row): string =>
  [...(keys[table] ?? []), 'kind', 'state', 'operation']
    .flatMap((name) => (name in row ? [shown(row[name])] : []))
    .join(' ');

const shown = (value: unknown): string => String(JSON.stringify(value)).slice(0, 60);

/** Numbers the changes, and enters what is gone, so that every copy reads them. */
function sent(now: State, state: State): State {
  const made: Record<string, readonly Row[]> = { ...state };
  if (!isDeepStrictEqual(now.heads, state.heads) || !isDeepStrictEqual(now.removed, state.removed))
    return made;
  for (const { name: head, tables } of mirrors) {
    const seq = Number(now.heads?.find(({ name }) => name === head)?.seq) + 1;
    const changed = tables.filter(({ name }) => !isDeepStrictEqual(now[name], state[name]));
    if (changed.length === 0) continue;
    made.heads = (made.heads ?? []).map((row) => (row.name === head ? { ...row, seq } : row));
    for (const { name, key } of changed) {
      const before = new Map((now[name] ?? []).map((row) => [keyOf(name, row), row]));
      const after = new Set((state[name] ?? []).map((row) => keyOf(name, row)));
      made[name] = (state[name] ?? []).map((row) => {
        const same = before.get(keyOf(name, row));
        return isDeepStrictEqual(same, row) || (same && same.seq !== row.seq) ? row : { ...row, seq };
      });
      const gone = [...before].filter(([one]) => !after.has(one));
      const at = new Date().toISOString();
      const removed = gone.map(([, row]) => ({
        head,
        name,
        key: JSON.stringify(key.map((one) => row[one])),
        seq,
        at,
      }));
      made.removed = [...(made.removed ?? []), ...removed];
    }
  }
  return made;
}

interface Altered {
  readonly table: string;
  readonly column?: string;
}

/** Makes all fit that is made without a key: checksums, sums and the hashes of the chain. */
function fitting(state: State, at: Altered): State {
  const isAt = (table: string, column?: string): boolean =>
    at.table === table && (column === undefined || at.column === column);
  const intents = (state.intents ?? []).map((row) => fitIntent(row, at));
  return {
    ...state,
    intents,
    reservations: isAt('reservations', 'checksum')
      ? (state.reservations ?? [])
      : (state.reservations ?? []).map(fitReservation),
    approvals: isAt('approvals', 'checksum')
      ? (state.approvals ?? [])
      : (state.approvals ?? []).map(fitApproval),
    audit:
      isAt('audit', 'hash') || isAt('audit', 'previous') ? (state.audit ?? []) : fitChain(state.audit ?? []),
    tally: (state.tally ?? []).map((row) =>
      fitTally(row, isAt('tally') ? undefined : intents, isAt('tally', 'checksum')),
    ),
    facts: (state.facts ?? []).map((row) =>
      row.name === 'reservations' && !isAt('facts')
        ? { ...row, value: sumOf(state.reservations ?? []) }
        : row,
    ),
    ...fitBlocks(state),
  };
}

function fitIntent(row: Row, { table, column }: Altered): Row {
  if (table !== 'intents' || column === 'checksum' || column === 'twin') return row;
  const body = jsonIn(row.body);
  const own =
    column === 'body' && isObject(body)
      ? { ...row, body_hash: contentHash(String(row.operation), body) }
      : row;
  return withChecksum(own as IntentRow);
}

function fitReservation(row: Row): Row {
  const names = [
    ...['key', 'base_url', 'account', 'state', 'at', 'cents', 'fee', 'counted', 'rehearsal', 'order_id'],
    ...['pid', 'process_started', 'override', 'intents', 'facts', 'approval'],
  ];
  const values = names.map((name) => row[name] ?? null);
  const text = JSON.stringify(values.at(-1) === null ? values.slice(0, -1) : values);
  return { ...row, checksum: sha256(`reservation ${text}`).slice(0, 32) };
}

function fitApproval(row: Row): Row {
  const names = ['id', 'terms', 'asked_at', 'state', 'decided_at', 'decided_by', 'signature', 'request'];
  const request = jsonIn(row.request);
  const values = names.map((name) =>
    name === 'request' && isObject(request) ? canonicalJson(request) : (row[name] ?? null),
  );
  return { ...row, checksum: sha256(`approval ${JSON.stringify(values)}`).slice(0, 32) };
}

function fitChain(rows: readonly Row[]): Row[] {
  let previous = firstPrevious;
  return rows
    .toSorted((one, other) => Number(one.number) - Number(other.number))
    .map((row) => {
      const record = recordOfRow({ ...row, previous });
      const { hash: _, seq: _seq, ...facts } = { ...record };
      const hash = hashOf(facts);
      const made = { ...row, previous, hash };
      previous = hash;
      return made;
    });
}

function fitTally(row: Row, intents: readonly Row[] | undefined, isBare: boolean): Row {
  if (isBare) return row;
  const live = (intents ?? []).filter((one) => Number(one.live) > 0);
  const sum = (name: string): string =>
    String(live.reduce((all, one) => all + BigInt(Number(one[name])), 0n));
  const own = intents ? { ...row, rows: String(live.length), live: sum('live'), twins: sum('twin') } : row;
  const text = `tally ${own.count} ${own.rows} ${own.live} ${own.twins}`;
  return { ...own, checksum: sha256(text).slice(0, 32) };
}

function sumOf(reservations: readonly Row[]): string {
  const times = reservations.reduce((all, { at }) => all + BigInt(Number(at)), 0n);
  const text = `${reservations.length} ${times}`;
  return `${text} ${sha256(`reservations ${text}`).slice(0, 32)}`;
}

/** Rows of an uploaded file are found by their hash. */
function fitBlocks(state: State): Pick<State, 'row_blocks' | 'upload_rows'> {
  const hashes = new Map((state.row_blocks ?? []).map(({ hash, rows }) => [hash, sha256(String(rows))]));
  return {
    row_blocks: (state.row_blocks ?? []).map((row) => ({ ...row, hash: sha256(String(row.rows)) })),
    upload_rows: (state.upload_rows ?? []).map((row) => ({ ...row, hash: hashes.get(row.hash) ?? row.hash })),
  };
}
