import type { Filters } from './filters.ts';

/** A condition in SQL, and what is bound to its marks. */
export interface Condition {
  readonly sql: string;
  readonly values: readonly (string | number)[];
}

/** What each filter of a list means. */
export type Conditions<N extends string> = { readonly [M in N]: (value: string) => Condition };

/** The conditions of the filters that are set, but for those left out. */
export function conditionOf<N extends string>(
  conditions: Conditions<N>,
  filters: Filters<N>,
  ...without: readonly N[]
): Condition {
  // The names are those of the table.
  const set = (Object.keys(conditions) as N[]).filter(
    (name) => filters[name] !== '' && !without.includes(name),
  );
  const found = set.map((name) => conditions[name](filters[name]));
  return {
    sql: found.map(({ sql }) => `(${sql})`).join(' AND ') || 'true',
    values: found.flatMap(({ values }) => values),
  };
}

/** SQL of whether a column begins with a text, which is to be bound twice: an index finds it. */
export const startsWith = (column: string): string => `${column} >= ? AND ${column} < ? || char(1114111)`;

/** Users by the beginning of their id, or a part of their email. */
export const userCondition = (column: string, value: string): Condition => ({
  sql: `${column} IN (SELECT id FROM users WHERE ${startsWith('id')} OR instr(lower(coalesce(email, '')), ?) > 0)`,
  values: Array.from({ length: 3 }, () => value.toLowerCase()),
});
