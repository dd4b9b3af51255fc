const closerOf: Readonly<Record<string, string>> = { '[': ']', '{': '}', '(': ')' };
const quotes = '"\'`';

/**
 * Why the parser of JMESPath refuses an expression, without the parser's names for what it read.
 * @param reason the library's own message.
 */
export function syntaxProblem(expression: string, reason: string): string {
  const unclosed = unclosedIn(expression);
  if (unclosed !== undefined) return `unclosed \`${unclosed}\``;
  const token = tokenIn(reason);
  if (token !== undefined) return `unexpected \`${token}\``;
  if (/EOF/.test(reason)) return 'it ends too early';
  return reason.startsWith('Syntax error: expected Star')
    ? '`[…]` takes a number, `*`, `?` or a slice'
    : reason;
}

/** What the parser did not expect, as it stands in the expression. */
function tokenIn(reason: string): string | undefined {
  for (const mark of ['value: ', 'unknown character: ']) {
    const at = reason.lastIndexOf(mark);
    if (at >= 0) return reason.slice(at + mark.length);
  }
  const found = /unexpected token: (\S{1,80})\(\w{1,40}\)$|invalid token \(\w{1,40}\): "(.{1,80})"$/.exec(
    reason,
  );
  return found?.[1] ?? found?.[2];
}

/** The bracket or quote that opens last of those that nothing closes; a closing one that nothing opens is no matter of this. */
function unclosedIn(expression: string): string | undefined {
  const open: string[] = [];
  let quote: string | undefined;
  for (let at = 0; at < expression.length; at += 1) {
    const char = expression.charAt(at);
    if (quote !== undefined) {
      if (char === '\\') at += 1;
      else if (char === quote) quote = undefined;
    } else if (quotes.includes(char)) quote = char;
    else if (closerOf[char] !== undefined) open.push(char);
    else if (closerOf[open.at(-1) ?? ''] === char) open.pop();
  }
  return quote ?? open.at(-1);
}
