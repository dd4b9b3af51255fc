import type { Shape } from '../api/schemas/index.ts';
import { plainText } from '../format/path.ts';
import { pages } from '../http/paging.ts';
import { differences } from '../orders/compare.ts';
import { ErrandError } from '../platform/errors.ts';
import type { Context } from '../run/context.ts';
import { earlierOrder } from './attempts.ts';
import { type Batch, rowsOf } from './batch.ts';
import { changeText, type KeptKey, keptLinesAfter, orderOfCells } from './kept-keys.ts';
import { findJournaledRows } from './uploaded-rows.ts';

/** Orders that are looked through, at most. */
const mostOrders = 20_000;

/** A row that met an order with its key. */
interface Met {
  readonly row: number;
  readonly asked: Readonly<Record<string, unknown>>;
}

/**
 * What is told of rows of batches whose key is that of an order with other content; of what cannot be read, nothing.
 * @param told numbers of rows that need not be told again.
 */
export async function keptAfter(
  context: Context,
  batches: Iterable<Batch>,
  told: ReadonlySet<number>,
): Promise<string[]> {
  try {
    const met = await metOrders(context, batches, told);
    const kept = met.size === 0 ? [] : await compared(context, met);
    return keptLinesAfter(kept.sort((one, other) => one.row - other.row));
  } catch (error) {
    // What was ordered stands without it.
    if (!(error instanceof ErrandError) || context.signal.aborted) throw error;
    return [];
  }
}

/** The rows of batches that met an order, by its id. */
async function metOrders(
  context: Context,
  batches: Iterable<Batch>,
  told: ReadonlySet<number>,
): Promise<Map<string, Met[]>> {
  const met = new Map<string, Met[]>();
  for (const batch of batches) {
    const found = rowsOf(batch).flatMap((row) => {
      const id = earlierOrder(row, batch);
      return id === undefined ? [] : [{ id, index: row.index }];
    });
    const uploaded = found.length === 0 ? undefined : await findJournaledRows(context, batch);
    for (const { id, index } of found) {
      const cells = uploaded?.rows[index];
      if (!cells) continue;
      const row = uploaded.layout?.numbers[index] ?? index + 1;
      if (told.has(row)) continue;
      const again = { row, asked: orderOfCells(cells) };
      const known = met.get(id);
      if (known) known.push(again);
      else met.set(id, [again]);
    }
  }
  return met;
}

async function compared(context: Context, met: Map<string, Met[]>): Promise<KeptKey[]> {
  const client = await context.client();
  const kept: KeptKey[] = [];
  let looked = 0;
  for await (const { rows } of pages(client, 'order.list', { query: { limit: 500 } }, { all: true })) {
    for (const order of rows) {
      const id = plainText(order.id).toLowerCase();
      for (const { row, asked } of met.get(id) ?? []) {
        // What a row asks for is an order: it was read from checked cells.
        const changes = differences(asked as unknown as Shape<'OrderCreate'>, order)
          .filter(({ isSpelling }) => !isSpelling)
          .map(({ field, requested, existing }) => changeText(field.split('.'), existing, requested));
        if (changes.length > 0) kept.push({ row, changes });
      }
      met.delete(id);
    }
    looked += rows.length;
    if (met.size === 0 || looked >= mostOrders) break;
  }
  return kept;
}
