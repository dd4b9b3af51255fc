/** Reads a JSON document that nobody vouches for: whatever stands where something else should is taken for nothing. */

import { type JsonObject, own } from '../json.ts';

export const entriesIn = (value: unknown, key: string): [string, unknown][] =>
  Object.entries(own(value, key) ?? {});

const mostHops = 20;

/** What a local reference chain ends at; undefined for one that leads nowhere, elsewhere or round in circles. */
export function followed(document: JsonObject, value: unknown): unknown {
  let found = value;
  for (let hops = 0; hops < mostHops; hops += 1) {
    const reference = own(found, '$ref');
    if (typeof reference !== 'string') return found;
    found = pointed(document, reference);
  }
  return undefined;
}

/** The value at a JSON pointer into the same document (RFC 6901). */
function pointed(document: JsonObject, reference: string): unknown {
  if (!reference.startsWith('#/')) return undefined;
  return reference
    .slice(2)
    .split('/')
    .reduce<unknown>((found, part) => own(found, unescaped(part)), document);
}

function unescaped(part: string): string {
  const plain = part.replaceAll('~1', '/').replaceAll('~0', '~');
  try {
    return decodeURIComponent(plain);
  } catch {
    // A percent sign that escapes nothing stands for itself.
    return plain;
  }
}
