import { createHash } from 'node:crypto';

/** JSON with sorted keys and no spaces: the same for the same content. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

/** In hexadecimal. */
export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** SHA-256 of a body without its idempotency key. Keys of CSV rows follow from it, so it must stay as it is. */
export function bodyHash(body: Readonly<Record<string, unknown>>): string {
  const { idempotency_key: _, ...rest } = body;
  return sha256(canonicalJson(rest));
}
