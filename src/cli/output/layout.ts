import type { Column, ColumnKind } from '../../format/result.ts';

export const gap = 2;

/** A column narrower than this says little, so the least important one goes first. */
export const leastText = 12;
/** Enough of a status for its sign and its first word. */
const leastStatus = 16;
/** A few words to a line. */
const leastProse = 20;
/** A status is kept before anything else: a row that hides it may pass for one that ended well. */
const statusFirst = 1000;
/** A column that weighs less, such as an age, goes before a status is broken. */
const leastBeforeStatus = 5;

export interface PlacedColumn {
  /** Position in the columns given. */
  readonly index: number;
  readonly width: number;
  readonly align: 'left' | 'right';
  /** Whether a longer text is cut with `…`; an amount or an id never is, it would say something else. */
  readonly cuts: boolean;
  /** Whether a longer text goes on below, broken between words. */
  readonly wraps: boolean;
  /** What of a cut text stays: of a URL its host, and the end, which tells one product from another. */
  readonly keeps: 'start' | 'ends' | 'host';
}

export interface Layout {
  readonly shown: readonly PlacedColumn[];
  /** Columns that found no room beside the others, and are told below each row. */
  readonly below: readonly number[];
  /** Names of the columns that found no room; of those that are empty in every row nothing is missed. */
  readonly hidden: readonly string[];
  /** Names of the columns shown that are narrower than their widest text. */
  readonly narrowed: readonly string[];
}

/** What the texts of a column say of the room that it needs. */
export interface Need {
  /** In place of the column's own `least`. */
  readonly least?: number | undefined;
  /** Whether it is empty in every row. */
  readonly isEmpty?: boolean;
}

interface Candidate extends Omit<PlacedColumn, 'width'> {
  width: number;
  readonly least: number;
  readonly weight: number;
  readonly isStatus: boolean;
  readonly isEmpty: boolean;
  readonly name: string;
}

/**
 * Places columns within a terminal: drops the lowest weights first (of equals the last), puts back those for
 * which there is room all the same, then narrows the widest texts. Columns without a text go before any other gives
 * way; extra columns come where nothing else gives way.
 * @param natural width of the widest text of each column, its header included.
 * @param limit columns of the terminal; undefined for a pipe, where everything is shown whole.
 * @param needs of each column, as far as its texts say them.
 */
export function layOut(
  columns: readonly Column[],
  natural: readonly number[],
  limit: number | undefined,
  needs: readonly Need[] = [],
): Layout {
  const all = columns.map((column, index) => candidate(column, index, natural[index] ?? 0, needs[index]));
  const isExtra = ({ index }: Candidate): boolean => columns[index]?.isExtra !== undefined;
  let shown = limit === undefined ? all : all.filter((column) => !isExtra(column));
  const dropped: Candidate[] = [];
  if (limit === undefined) return { shown, below: [], hidden: [], narrowed: [] };
  if (total(shown, 'width') > limit) shown = shown.filter(({ isEmpty }) => !isEmpty);
  while (shown.length > 1) {
    const low = shown.reduce((lowest, next) => (next.weight <= lowest.weight ? next : lowest));
    const needed = low.weight < leastBeforeStatus ? withWholeStatus(shown) : shown;
    if (total(needed, 'least') <= limit) break;
    shown = shown.filter((column) => column !== low);
    dropped.unshift(low);
  }
  shown = withThoseThatFit(shown, dropped, limit, 'least');
  const extras = all.filter(isExtra).sort((a, b) => b.weight - a.weight);
  if (total(shown, 'width') <= limit) shown = withThoseThatFit(shown, extras, limit, 'width');
  narrow(shown, limit);
  const isShown = new Set(shown.map(({ index }) => index));
  const placed = shown.map((column) => ({ ...column, ...onlyOne(shown, limit) }));
  const hidden = all.filter(
    ({ index, isEmpty }) => !isShown.has(index) && !isEmpty && columns[index]?.isExtra !== true,
  );
  const goesBelow = ({ index }: Candidate): boolean => columns[index]?.goesBelow === true;
  return {
    shown: placed,
    below: hidden.filter(goesBelow).map(({ index }) => index),
    hidden: hidden.filter((column) => !goesBelow(column)).map(({ name }) => name),
    narrowed: names(columns, (index) =>
      placed.some(
        (column) => column.index === index && !column.wraps && column.width < (natural[index] ?? 0),
      ),
    ),
  };
}

/** A wide column that was dropped leaves room that narrower ones may fill, the most important first; never that of a status. */
function withThoseThatFit(
  shown: readonly Candidate[],
  dropped: readonly Candidate[],
  limit: number,
  key: 'width' | 'least',
): Candidate[] {
  let kept = [...shown];
  for (const column of dropped) {
    const more = [...kept, column];
    if (total(withWholeStatus(more), key) <= limit) kept = more;
  }
  return kept.sort((a, b) => a.index - b.index);
}

const withWholeStatus = (columns: readonly Candidate[]): Candidate[] =>
  columns.map((one) => (one.isStatus ? { ...one, least: one.width } : one));

function candidate(column: Column, index: number, width: number, need: Need = {}): Candidate {
  const { kind, weight = 0, name } = column;
  const isStatus = kind === 'status';
  const own = isStatus ? leastStatus : column.isProse ? leastProse : leastText;
  const least = need.least ?? column.least ?? own;
  const cuts = kind === undefined || kind === 'text' || kind === 'url' || isStatus;
  return {
    index,
    width,
    least: cuts ? Math.min(width, least) : width,
    cuts,
    wraps: column.isProse === true || isStatus,
    keeps: column.keeps ?? (kind === 'url' ? 'host' : 'start'),
    align: alignment(kind),
    weight: isStatus ? weight + statusFirst : weight,
    isStatus,
    isEmpty: need.isEmpty === true,
    name,
  };
}

const alignment = (kind: ColumnKind | undefined): 'left' | 'right' =>
  kind === 'money' || kind === 'count' ? 'right' : 'left';

const total = (columns: readonly Candidate[], key: 'width' | 'least'): number =>
  columns.reduce((sum, column) => sum + column[key], gap * Math.max(0, columns.length - 1));

/** Takes columns off the widest texts, and off a status last, until all fit or every text has its least width. */
function narrow(columns: readonly Candidate[], limit: number): void {
  for (let excess = total(columns, 'width') - limit; excess > 0; excess -= 1) {
    const wide = columns.filter(({ width, least }) => width > least);
    const texts = wide.filter(({ isStatus }) => !isStatus);
    const [first, ...more] = texts.length > 0 ? texts : wide;
    if (!first) return;
    const widest = more.reduce((most, next) => (next.width > most.width ? next : most), first);
    widest.width -= 1;
  }
}

/** The one column that is left must fit whatever it is. */
function onlyOne(shown: readonly Candidate[], limit: number): Partial<PlacedColumn> {
  const [only] = shown;
  return only && shown.length === 1 && only.width > limit ? { width: limit, cuts: true } : {};
}

const names = (columns: readonly Column[], isMeant: (index: number) => boolean): string[] =>
  columns.filter((_, index) => isMeant(index)).map(({ name }) => name);
