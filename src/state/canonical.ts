import { hash } from 'node:crypto';

/** JSON with sorted keys and no spaces: the same for the same content. */
export const canonicalJson = (value: unknown): string => JSON.stringify(sorted(value));

/** Before it is written: to be asked for each value while writing takes several times longer. */
function sorted(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(sorted);
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, inner]) => [name, sorted(inner)]),
  );
}

/** In hexadecimal. */
export const sha256 = (text: string): string => hash('sha256', text, 'hex');

/** SHA-256 of a body without its idempotency key. Keys of CSV rows follow from it, so it must stay as it is. */
export function bodyHash(body: Readonly<Record<string, unknown>>): string {
  const { idempotency_key: _, ...rest } = body;
  return sha256(canonicalJson(rest));
}
