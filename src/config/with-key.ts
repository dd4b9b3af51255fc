import type { KeptKey, Profile } from './stored.ts';

/**
 * A profile with a key in use, kept beside it the one that was: none is lost. One that is there already is used again.
 * @param storedAt ISO 8601. Pure.
 */
export function withKey(profile: Profile, key: string, storedAt: string): Profile {
  if (profile.api_key === key) return profile;
  const { api_key: before, key_stored_at: beforeAt, other_keys: others = [], ...rest } = profile;
  const known = others.find(({ api_key }) => api_key === key);
  const at = known ? known.stored_at : storedAt;
  const beside = [
    ...(before === undefined ? [] : [kept(before, beforeAt)]),
    ...others.filter((other) => other !== known),
  ];
  return {
    ...rest,
    api_key: key,
    ...(at !== undefined && { key_stored_at: at }),
    ...(beside.length > 0 && { other_keys: beside }),
  };
}

/** A profile without the key in use, and without those beside it where `all` are meant. Pure. */
export function withoutStoredKeys(profile: Profile, all: boolean): Profile {
  const { api_key: _, key_stored_at: __, other_keys: others, ...rest } = profile;
  return all || others === undefined ? rest : { ...rest, other_keys: others };
}

/** A profile with all of its keys kept and none of them in use. Pure. */
export function withKeySetAside({
  api_key: key,
  key_stored_at: storedAt,
  other_keys: others = [],
  ...rest
}: Profile): Profile {
  const all = [...(key === undefined ? [] : [kept(key, storedAt)]), ...others];
  return all.length > 0 ? { ...rest, other_keys: all } : rest;
}

export const kept = (key: string, storedAt: string | undefined): KeptKey => ({
  api_key: key,
  ...(storedAt !== undefined && { stored_at: storedAt }),
});
