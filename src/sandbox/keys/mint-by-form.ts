import { createHmac } from 'node:crypto';
import { hashKey } from '../http/caller.ts';
import { usedForm } from '../http/refusal.ts';
import { paymentSecret } from '../payments/secret.ts';
import type { Service } from '../service.ts';
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

/** How long a form that is sent again gets the key that it minted: a double click, not a visit tomorrow. ms. */
const shownAgainMs = 60_000;

/**
 * Mints the key of a form. The key follows from the form and a secret of the store, so that who sends the form twice
 * sees the same key, though only its hash is kept. @returns undefined once it is too late to see it again.
 * @throws Refusal rate_limit_exceeded, already_exists where it has another name now.
 */
export async function mintByForm(
  service: Service,
  { id, name, from, now }: Form,
): Promise<{ readonly key: string; readonly userId: string } | undefined> {
  const { store, config } = service;
  const secret = await paymentSecret(service);
  const mac = createHmac('sha256', secret).update(`key of form ${id}`).digest('hex');
  const key = `${config.prefix}_test_${mac.slice(0, 40)}`;
  return store.transaction(() => {
    const minted = store.get('SELECT user_id, name, created_at FROM api_keys WHERE hash = ?', hashKey(key));
    if (minted) {
      const isRecent = now - Number(minted.created_at) <= shownAgainMs;
      if (isRecent && minted.name !== name) throw usedForm('minted a key');
      return isRecent ? { key, userId: String(minted.user_id) } : undefined;
    }
    refuseTooMany(store, from, config.mintLimitPerDay, now);
    return { key, userId: mintKey(service, { given: { id, key }, name, from, now }).userId };
  });
}
