import { UsageError } from '../platform/errors.ts';
import { keysOf, maskKey, withKey, withoutStoredKeys } from './keys.ts';
import type { SettingsStore } from './store.ts';

interface KeyToStore {
  readonly profile: string;
  readonly key: string;
  /** Base URL the key is for; the key is never stored for another base URL. */
  readonly service: string;
  /** Whether to forget the active key when the new key replaces it. */
  readonly replace?: boolean;
  /** Flags that select the profile, for use in a suggested command line. */
  readonly flags: string;
  /** When the list was shown, ms since the epoch. */
  readonly now: number;
}

/**
 * Stores a key for a profile and makes it active; the previous key is kept. Creates a missing profile.
 * @returns lines about the previous key. @throws UsageError if the profile is for another address.
 */
export async function storeKey(
  store: SettingsStore,
  { profile: name, key, service, replace = false, flags, now }: KeyToStore,
): Promise<string[]> {
  const storedAt = new Date(now).toISOString();
  let earlier: { readonly id: string; readonly key: string } | undefined;
  await store.setProfile(name, (before = { base_url: service }) => {
    if (before.base_url !== service)
      throw new UsageError(
        `profile ${name} is for ${before.base_url} now; the key for ${service} was not stored`,
      );
    earlier = keysOf(before).find((it) => it.isInUse && it.key !== key);
    return withKey(replace && earlier ? withoutStoredKeys(before, false) : before, key, storedAt);
  });
  if (!earlier) return [];
  const back = `errand auth use ${earlier.id}${flags}`;
  return replace
    ? [`in place of ${maskKey(earlier.key)}, which is forgotten`]
    : [`${maskKey(earlier.key)} is kept beside it, with its orders and wallet: \`${back}\` goes back`];
}
