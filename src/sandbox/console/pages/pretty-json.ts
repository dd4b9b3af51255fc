/** JSON on lines of its own, indented, also where it is cut: its beginning is as good as the whole. Pure. */
export function prettyJson(json: string): string {
  const pieces: string[] = [];
  let depth = 0;
  const line = (): string => `\n${'  '.repeat(Math.min(depth, 20))}`;
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\[\s\S])*"?|[{}[\],:]|[^\s"{}[\],:]+/g)) {
    if (token === '{' || token === '[') {
      depth += 1;
      pieces.push(token, line());
    } else if (token === '}' || token === ']') {
      depth = Math.max(0, depth - 1);
      // An empty one stays on its line.
      if (/^\s+$/.test(pieces.at(-1) ?? '') && /^[{[]$/.test(pieces.at(-2) ?? '')) pieces.pop();
      else pieces.push(line());
      pieces.push(token);
    } else if (token === ',') pieces.push(token, line());
    else pieces.push(token === ':' ? ': ' : token);
  }
  return pieces.join('');
}
