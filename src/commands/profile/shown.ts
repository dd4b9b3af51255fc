import { shownDatabase } from '../../config/database-url.ts';
import { maskKey } from '../../config/keys.ts';
import type { Profile } from '../../config/stored.ts';

/** A profile as it may be shown: keys masked, and of the database's address the part that is no secret. */
export function shownProfile(name: string, profile: Profile, current: string) {
  const { api_key: key, key_stored_at: _, other_keys: __, legacy_token: token, database, ...rest } = profile;
  return {
    name,
    current: name === current,
    ...rest,
    ...(database !== undefined && { database: shownDatabase(database) }),
    api_key: key === undefined ? null : maskKey(key),
    legacy_token: token === undefined ? null : maskKey(token),
  };
}
