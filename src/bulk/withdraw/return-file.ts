import { plainHeading } from '../../api/bulk-columns.ts';
import { returnReasons } from '../../api/enums.ts';
import { uuidPattern } from '../../api/limits.ts';
import type { Shape } from '../../api/schemas/index.ts';
import type { Reference } from '../../journal/attempts.ts';
import { namespaceProblem, referenceOf, referenceProblem } from '../../orders/needs/reference.ts';
import { UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { mistakenFor } from '../csv/mapping.ts';
import { readTable } from '../csv/reader.ts';
import type { Source } from '../upload/source.ts';

export type Reason = Shape<'ReturnRequestCreate'>['reason'];

/** A row in a file of returns. */
export interface ReturnRow {
  /** Row number as a spreadsheet shows it. */
  readonly number: number;
  readonly order: { readonly id: string } | { readonly reference: Reference };
  /** The reference that the order must have, if the row gives both the order and a reference. */
  readonly named: Reference | undefined;
  readonly reason: Reason;
  /** Id of an order line; undefined for the order's only line, or for the whole order. */
  readonly item: string | undefined;
  /** Number of units to return; undefined for all units. */
  readonly quantity: number | undefined;
  readonly notes: string | undefined;
}

/** What is wrong with a row. */
export interface RowProblem {
  readonly row: number;
  readonly text: string;
}

const fields = ['order', 'reference', 'reason', 'item', 'quantity', 'notes'] as const;
type Field = (typeof fields)[number];

/** Alternative headings of each column, written without spaces, hyphens and capitals. */
const headings: Readonly<Record<Field, readonly string[]>> = {
  order: ['orderid', 'id'],
  reference: ['errandreference', 'orderreference'],
  reason: ['returnreason'],
  item: ['itemid', 'orderitemid', 'orderitem'],
  quantity: ['units'],
  notes: ['note', 'comment'],
};

const fieldOf = (heading: string): Field | undefined =>
  fields.find((field) => plainHeading(heading) === field || headings[field].includes(plainHeading(heading)));

interface Given {
  /** Reason for rows that give none. */
  readonly reason: Reason | undefined;
  readonly namespace: string;
}

/**
 * Reads a file of returns. @throws UsageError for a file without a column for the orders, or with two columns of the
 * same kind.
 */
export async function readReturns(
  context: Context,
  source: Source,
  given: Given,
): Promise<{
  readonly rows: readonly ReturnRow[];
  readonly problems: readonly RowProblem[];
  /** Headings of the columns that this command does not use. */
  readonly unused: readonly string[];
}> {
  const problem = namespaceProblem(given.namespace);
  if (problem !== undefined) throw new UsageError(`--namespace ${problem}`);
  const rows: ReturnRow[] = [];
  const problems: RowProblem[] = [];
  let columns: ReadonlyMap<Field, number> | undefined;
  let unused: readonly string[] = [];
  const table = readTable(source.chunks(), {
    name: source.name,
    isHeading: (text) => fieldOf(text) !== undefined,
  });
  for await (const part of table) {
    context.signal.throwIfAborted();
    if (!columns) {
      columns = columnsOf(part.headings, source.name);
      unused = part.headings.filter((heading) => heading !== '' && fieldOf(heading) === undefined);
    }
    for (const [at, cells] of part.rows.entries()) {
      const number = part.firstRow + at;
      if (cells.every((cell) => cell.trim() === '')) continue;
      const cell = (field: Field): string => (cells[columns?.get(field) ?? -1] ?? '').trim();
      const read = readRow(number, cell, given);
      if ('text' in read) problems.push(read);
      else rows.push(read);
    }
  }
  return { rows, problems, unused };
}

function columnsOf(names: readonly string[], file: string): ReadonlyMap<Field, number> {
  const columns = new Map<Field, number>();
  for (const [at, name] of names.entries()) {
    const field = fieldOf(name);
    if (field === undefined) continue;
    const other = columns.get(field);
    if (other !== undefined)
      throw new UsageError(`${file}: "${names[other]}" and "${name}" are both the ${field}; rename one`);
    columns.set(field, at);
  }
  for (const name of names) checkUnused(name, file);
  if (columns.has('order') || columns.has('reference')) return columns;
  throw new UsageError(`${file}: no column names the orders: it needs one headed order or reference`, {
    hint: `The columns of a file of returns are ${fields.join(', ')}; order takes ids.`,
  });
}

/** @throws UsageError for an unused heading that seems to be another word for the line or the quantity to return. */
function checkUnused(heading: string, file: string): void {
  if (fieldOf(heading) !== undefined) return;
  const field =
    mistakenFor(heading) === 'quantity' || /qty|quantity|units|pieces/i.test(heading)
      ? 'quantity'
      : /^(?:line|item|pos|sku|article|artikel|product)/i.test(heading.trim())
        ? 'item'
        : undefined;
  if (field !== undefined)
    throw new UsageError(
      `${file}: "${heading}" looks like ${field} and is not used: head it ${field}, or take it out`,
    );
}

function readRow(row: number, cell: (field: Field) => string, given: Given): ReturnRow | RowProblem {
  const [id, name] = [cell('order'), cell('reference')];
  const wrong = (text: string): RowProblem => ({ row, text });
  if (id === '' && name === '') return wrong('it names no order: order and reference are empty');
  if (id !== '' && !uuidPattern.test(id)) return wrong(`order "${id}" is not the id of an order`);
  const problem = name === '' ? undefined : referenceProblem(name);
  if (problem !== undefined) return wrong(`its reference ${problem}`);
  const text = cell('reason');
  const reason =
    text === ''
      ? given.reason
      : returnReasons.find((one) => one === text.toLowerCase().replace(/[\s-]+/g, '_'));
  if (reason === undefined)
    return wrong(
      text === ''
        ? 'it gives no reason; a column does, or --reason for all of them'
        : `reason "${text}" is none of ${returnReasons.join(', ')}`,
    );
  const item = cell('item');
  if (item !== '' && !uuidPattern.test(item))
    return wrong(`item "${item}" is not the id of a line; \`errand order get ORDER\` shows them`);
  const quantity = cell('quantity');
  if (quantity !== '' && !/^[1-9]\d{0,5}$/.test(quantity))
    return wrong(`quantity "${quantity}" is not a whole number from 1`);
  const notes = cell('notes');
  return {
    number: row,
    order: id === '' ? { reference: referenceOf(name, given.namespace) } : { id: id.toLowerCase() },
    named: id === '' || name === '' ? undefined : referenceOf(name, given.namespace),
    reason,
    item: item === '' ? undefined : item.toLowerCase(),
    quantity: quantity === '' ? undefined : Number(quantity),
    notes: notes === '' ? undefined : notes,
  };
}
