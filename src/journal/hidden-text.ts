/**
 * SQL for a column `hides_text`: 1 where a text of a row goes on behind a NUL. The binding of SQLite ends it there, so that
 * what was added to it would be read as never written.
 */
export const hiddenText = (columns: readonly string[]): string =>
  `instr(CAST(${columns.map((name) => `coalesce(${name}, '')`).join(' || ')} AS BLOB), x'00') > 0 AS hides_text`;

/** A text as SQLite gives it back: a service may send any. */
export const storable = (text: string): string => text.replaceAll('\0', '\uFFFD');
