const mostWords = 16;
const longestWord = 64;

/** Words of a query as an FTS5 expression: each quoted by us, so that nothing in it is an operator. */
export function matchExpression(query: string, operator: 'AND' | 'OR'): string | undefined {
  const words = query.normalize('NFKC').match(/[\p{L}\p{N}]+/gu) ?? [];
  if (words.length === 0) return undefined;
  return words
    .slice(0, mostWords)
    .map((word) => `"${Array.from(word).slice(0, longestWord).join('')}"*`)
    .join(` ${operator} `);
}
