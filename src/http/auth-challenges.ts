/** One challenge of a `www-authenticate` header: its scheme and parameters, lower-case names, values unescaped. */
export interface AuthChallenge {
  readonly scheme: string;
  readonly parameters: Readonly<Record<string, string>>;
}

/** Past these nothing is read: no honest service is near them. */
const longestHeader = 64 * 1024;
const mostChallenges = 32;

const separators = /[\s,]*/y;
const spaces = /\s*/y;
const token = /[!#$%&'*+.^_`|~0-9A-Za-z-]+/y;
const quoted = /"((?:[^"\\]|\\.)*)"/sy;
const unquoted = /[^\s,"]+/y;
/** What stands in place of parameters in some schemes. */
const token68 = /[A-Za-z0-9._~+/-]+=*(?=\s*(?:,|$))/y;

/**
 * Reads every challenge of one header value (RFC 9110, 11.6.1). What follows a syntax error is left out, with the challenge
 * that it stands in; so is a challenge that gives a parameter twice.
 */
export function readAuthChallenges(header: string): AuthChallenge[] {
  const text = header.slice(0, longestHeader);
  const found: { scheme: string; pairs: [string, string][] }[] = [];
  let at = 0;
  const take = (pattern: RegExp): RegExpExecArray | null => {
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match) at = pattern.lastIndex;
    return match;
  };
  for (take(separators); at < text.length; take(separators)) {
    const name = take(token)?.[0].toLowerCase();
    if (name === undefined) return whole(found.slice(0, -1));
    take(spaces);
    const current = found.at(-1);
    if (text[at] !== '=') {
      if (found.length === mostChallenges) break;
      found.push({ scheme: name, pairs: [] });
      take(token68);
      continue;
    }
    at += 1;
    take(spaces);
    const value = text[at] === '"' ? unescaped(take(quoted)?.[1]) : take(unquoted)?.[0];
    if (value === undefined || !current) return whole(found.slice(0, -1));
    current.pairs.push([name, value]);
  }
  return whole(found);
}

function whole(found: readonly { scheme: string; pairs: readonly [string, string][] }[]): AuthChallenge[] {
  return found
    .map(({ scheme, pairs }) => ({ scheme, parameters: Object.fromEntries(pairs), count: pairs.length }))
    .filter(({ parameters, count }) => Object.keys(parameters).length === count)
    .map(({ scheme, parameters }) => ({ scheme, parameters }));
}

/** A header holds Latin-1 only; `\uXXXX` is how this scheme's public SDK writes the rest. */
const unescaped = (text: string | undefined): string | undefined =>
  text?.replace(/\\u([0-9a-fA-F]{4})|\\(.)/gs, (_, hex: string | undefined, plain: string) =>
    hex === undefined ? plain : String.fromCharCode(Number.parseInt(hex, 16)),
  );
