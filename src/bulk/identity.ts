import { createHash } from 'node:crypto';

/** Tells an upload by the keys of its rows, in their order. */
export class Identity {
  readonly #hash = createHash('sha256');

  add(key: string): void {
    this.#hash.update(`${JSON.stringify(key)}\n`);
  }

  /** Of all keys so far, in hexadecimal. */
  digest(): string {
    return this.#hash.copy().digest('hex');
  }
}

export function identityOf(keys: Iterable<string>): string {
  const identity = new Identity();
  for (const key of keys) identity.add(key);
  return identity.digest();
}
