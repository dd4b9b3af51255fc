import { UsageError } from '../platform/errors.ts';
import { fingerprint } from './fingerprint.ts';
import { maskKey } from './keys.ts';
import type { KeptKey, Profile } from './stored.ts';
import { kept } from './with-key.ts';

/** A key that a profile has. */
export interface ProfileKey {
  /** Tells it from the others of its profile, and cannot be turned back into it. */
  readonly id: string;
  readonly key: string;
  /** ISO 8601; undefined for one of before that was noted. */
  readonly storedAt: string | undefined;
  readonly isInUse: boolean;
}

/** The account that a key of a profile stands for in the journal and the audit chain. */
export const accountOf = (key: string, { base_url: service }: Profile): string => fingerprint(key, service);

/** The keys of a profile, the one in use first. Pure. */
export function keysOf({
  base_url: service,
  api_key: key,
  key_stored_at: storedAt,
  other_keys: others = [],
}: Profile): ProfileKey[] {
  const entry = ({ api_key, stored_at }: KeptKey, isInUse: boolean): ProfileKey => ({
    id: fingerprint(api_key, service).slice(0, 8),
    key: api_key,
    storedAt: stored_at,
    isInUse,
  });
  const inUse = key === undefined ? [] : [entry(kept(key, storedAt), true)];
  return [...inUse, ...others.map((other) => entry(other, false))];
}

/**
 * The key of a profile that is meant by the beginning of its id, its last four characters, or as it is shown.
 * @throws UsageError where none is, or more than one; a whole key is not repeated.
 */
export function keyMeant(name: string, profile: Profile, given: string): ProfileKey {
  const all = keysOf(profile);
  if (all.some(({ key }) => key === given))
    throw new UsageError(
      "a whole key does not belong on the command line, where the shell's history keeps it",
      {
        hint: 'Name it by its id or its last four characters; `errand auth list` shows them.',
      },
    );
  const tail = given.replace(/^.{0,60}(?:…|\.\.\.)/, '');
  const found = all.filter(
    ({ id, key }) =>
      (given.length >= 4 && id.startsWith(given.toLowerCase())) ||
      (tail.length === 4 && maskKey(key).endsWith(`…${tail}`)),
  );
  const [first, second] = found;
  if (first && !second) return first;
  const next = [{ command: 'errand auth list', when: 'to see its keys' }];
  if (first)
    throw new UsageError(
      `"${given}" may be any of ${found.map(({ id, key }) => `${maskKey(key)} (${id})`).join(', ')}; give the id`,
      { next },
    );
  // What looks like a whole key is not shown.
  const which = given.length <= 12 ? `"${given}"` : maskKey(given);
  throw new UsageError(`profile ${name} has no key ${which}`, { next });
}
