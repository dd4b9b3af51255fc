/** Words of a query as an FTS5 expression: each quoted by us, so that nothing in it is an operator. */
export function matchExpression(query: string, operator: 'AND' | 'OR'): string | undefined {
  const words =
    query
      .normalize('NFKC')
      .match(/[\p{L}\p{N}]+/gu)
      ?.slice(0, 16) ?? [];
  return words.length === 0
    ? undefined
    : words.map((word) => `"${word.slice(0, 64)}"*`).join(` ${operator} `);
}
