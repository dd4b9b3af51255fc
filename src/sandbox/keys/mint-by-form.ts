import { usedForm } from '../server/refusal.ts';
import type { Service } from '../server/service.ts';
import type { Store } from '../store/store.ts';
import { refuseTooMany } from './limit.ts';
import { mintKey } from './mint.ts';

interface Form {
  /** Made with the form, so that a form that is sent twice mints one key. */
  readonly id: string;
  readonly name: string | null;
  /** Address that it came from. */
  readonly from: string;
  /** ms since the epoch. */
  readonly now: number;
}

interface Shown {
  readonly key: string;
  readonly userId: string;
}

/** How long a form that is sent again gets the key that it minted: a double click, not a visit tomorrow. ms. */
const shownAgainMs = 60_000;

/** Keys of forms that were just sent, by the form. In memory alone, since only the hash of a key is kept. */
const recent = new WeakMap<Store, Map<string, Shown & { readonly at: number }>>();

/**
 * Mints the key of a form. Who sends the form twice gets the same key.
 * @returns undefined once it is too late to see it again, or where another server has shown it.
 * @throws Refusal rate_limit_exceeded, already_exists where it has another name now.
 */
export function mintByForm(service: Service, { id, name, from, now }: Form): Promise<Shown | undefined> {
  const { store, config } = service;
  const keys = recent.get(store) ?? new Map<string, Shown & { at: number }>();
  recent.set(store, keys);
  for (const [form, { at }] of keys) if (Math.abs(now - at) > shownAgainMs) keys.delete(form);
  return store.transaction(() => {
    const minted = store.get('SELECT name FROM api_keys WHERE id = ?', id);
    if (minted) {
      const shown = keys.get(id);
      if (shown && minted.name !== name) throw usedForm('minted a key');
      return shown;
    }
    refuseTooMany(store, from, config.mintLimitPerDay, now);
    const { key, userId } = mintKey(service, { id, name, from, now });
    keys.set(id, { key, userId, at: now });
    return { key, userId };
  });
}
