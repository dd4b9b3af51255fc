import type { Column, ColumnKind } from './result.ts';

export const gap = 2;

/** A column narrower than this says little, so the least important one goes first. */
const leastText = 12;

export interface PlacedColumn {
  /** Position in the columns given. */
  readonly index: number;
  readonly width: number;
  readonly align: 'left' | 'right';
  /** Whether a longer text is cut with `…`; an amount or an id never is, it would say something else. */
  readonly cuts: boolean;
}

export interface Layout {
  readonly shown: readonly PlacedColumn[];
  /** Names of the columns that found no room. */
  readonly hidden: readonly string[];
}

interface Candidate extends Omit<PlacedColumn, 'width'> {
  width: number;
  readonly least: number;
  readonly weight: number;
  readonly name: string;
}

/**
 * Places columns within a terminal: drops the lowest weights first (of equals the last), then narrows the widest texts.
 * @param natural width of the widest text of each column, its header included.
 * @param limit columns of the terminal; undefined for a pipe, where everything is shown whole.
 */
export function layOut(
  columns: readonly Column[],
  natural: readonly number[],
  limit: number | undefined,
): Layout {
  let shown = columns.map((column, index) => candidate(column, index, natural[index] ?? 0));
  const hidden = new Set<number>();
  if (limit === undefined) return { shown, hidden: [] };
  while (shown.length > 1 && total(shown, 'least') > limit) {
    const dropped = shown.reduce((low, next) => (next.weight <= low.weight ? next : low));
    shown = shown.filter((column) => column !== dropped);
    hidden.add(dropped.index);
  }
  narrow(shown, limit);
  return {
    shown: shown.map((column) => ({ ...column, ...onlyOne(shown, limit) })),
    hidden: names(columns, hidden),
  };
}

function candidate({ kind, weight = 0, name }: Column, index: number, width: number): Candidate {
  const cuts = kind === undefined || kind === 'text';
  return {
    index,
    width,
    least: cuts ? Math.min(width, leastText) : width,
    cuts,
    align: alignment(kind),
    weight,
    name,
  };
}

const alignment = (kind: ColumnKind | undefined): 'left' | 'right' =>
  kind === 'money' || kind === 'count' ? 'right' : 'left';

const total = (columns: readonly Candidate[], key: 'width' | 'least'): number =>
  columns.reduce((sum, column) => sum + column[key], gap * Math.max(0, columns.length - 1));

/** Takes columns off the widest texts until all fit or every text has its least width. */
function narrow(columns: readonly Candidate[], limit: number): void {
  for (let excess = total(columns, 'width') - limit; excess > 0; excess -= 1) {
    const wide = columns.filter(({ width, least }) => width > least);
    if (wide.length === 0) return;
    const widest = wide.reduce((most, next) => (next.width > most.width ? next : most));
    widest.width -= 1;
  }
}

/** The one column that is left must fit whatever it is. */
function onlyOne(shown: readonly Candidate[], limit: number): Partial<PlacedColumn> {
  const [only] = shown;
  return only && shown.length === 1 && only.width > limit ? { width: limit, cuts: true } : {};
}

const names = (columns: readonly Column[], indexes: ReadonlySet<number>): string[] =>
  columns.filter((_, index) => indexes.has(index)).map(({ name }) => name);
