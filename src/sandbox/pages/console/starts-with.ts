/** SQL of whether a column begins with a text, which is to be bound twice: an index finds it. */
export const startsWith = (column: string): string => `${column} >= ? AND ${column} < ? || char(1114111)`;
