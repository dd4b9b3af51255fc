/** The one text that a JSON value has: keys sorted by code unit, nothing between the tokens (RFC 8785). */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, inner]) => `${JSON.stringify(key)}:${canonicalJson(inner)}`);
  return `{${members.join(',')}}`;
}

export const encodeJson = (value: unknown): string => Buffer.from(canonicalJson(value)).toString('base64url');

/** The JSON object behind base64url; undefined for anything else. */
export function decodeObject(encoded: string): Readonly<Record<string, unknown>> | undefined {
  if (!/^[A-Za-z0-9_-]+=*$/.test(encoded)) return undefined;
  try {
    return asObject(JSON.parse(Buffer.from(encoded, 'base64url').toString('utf8')));
  } catch {
    // The sender learns that it cannot be read.
    return undefined;
  }
}

export const asObject = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value))
    : undefined;
