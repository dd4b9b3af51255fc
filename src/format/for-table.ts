import type { Row } from './result.ts';

/**
 * Rows that are made for people: a table alone shows them, so they need not be what the command prints with `-o json`. Whoever
 * calls has seen that the format is a table.
 */
export const forTable = (rows: Iterable<Row> | AsyncIterable<Row>): AsyncIterable<never> =>
  // No row of it reaches a format that has a schema.
  rows as AsyncIterable<never>;
