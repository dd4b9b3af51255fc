import { shownDatabase } from '../../config/base-url.ts';
import { maskKey } from '../../config/keys.ts';
import type { Profile } from '../../config/stored.ts';
import type { Column, Row } from '../../format/result.ts';

export const profileColumns: readonly Column[] = [
  { name: 'profile', path: 'name', weight: 10 },
  { name: 'current', path: 'current', kind: 'flag', weight: 9 },
  { name: 'service', path: 'base_url', weight: 8 },
  { name: 'key', path: 'api_key', weight: 7, value: keyOrItsCommand },
  { name: 'legacy service', path: 'legacy_base_url', weight: 3 },
  { name: 'legacy token', path: 'legacy_token', weight: 2 },
  { name: 'policy', path: 'policy', weight: 1 },
  { name: 'database', path: 'database', weight: 4 },
  { name: 'plain http', path: 'allow_plain_http', kind: 'flag', weight: 1 },
];

/** Makes a profile safe to display. Masks its keys and hides the secret part of its database address. */
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

/** A masked key, or the program that prints the key. */
function keyOrItsCommand(row: Row): unknown {
  const { api_key: key, key_command: command } = row;
  return Array.isArray(command) ? `from ${command[0]}` : key;
}
