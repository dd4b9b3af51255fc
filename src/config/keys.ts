import { createHmac } from 'node:crypto';
import { apiKeyPattern } from '../api/limits.ts';
import { UsageError } from '../platform/errors.ts';
import type { Environment } from './paths.ts';
import { embeddedUrl, type Profile, type SpareKey, type Stored } from './stored.ts';

/**
 * Masks a key for display: `xx_test_…a1b2`. If the format of the key is unknown, at most its last four characters are
 * shown.
 */
export function maskKey(key: string): string {
  const [, prefix, mode, secret = ''] = apiKeyPattern.exec(key) ?? [];
  const tail = (secret || key).length > 12 ? (secret || key).slice(-4) : '';
  return prefix === undefined ? `…${tail}` : `${prefix}_${mode}_…${tail}`;
}

/** Whether a key is for rehearsals or spends real money. Undefined if the format of the key does not show which. */
export function keyMode(key: string): 'test' | 'live' | undefined {
  const mode = apiKeyPattern.exec(key)?.[2];
  return mode === 'test' || mode === 'live' ? mode : undefined;
}

/** Environment variables with secrets that must not reach other programs. */
const secretVariables: readonly string[] = ['ERRAND_API_KEY', 'ERRAND_LEGACY_TOKEN', 'ERRAND_DATABASE_URL'];

/**
 * Environment variables of PostgreSQL's own programs. They hold passwords, name files with passwords and keys, or say
 * where these are used.
 */
const ofPostgres = /^PG[A-Z]+$/i;

/** Whether an environment variable holds one of errand's secrets. */
export const isSecretVariable = (name: string): boolean =>
  secretVariables.includes(name) || ofPostgres.test(name);

/** Environment for programs that errand runs on the user's behalf. */
export const withoutKeys = (environment: Environment): Environment =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => !isSecretVariable(name)));

/** Validates a key for use in a header. @throws UsageError naming its source, never the key. */
export function checkKey(text: string, where: string): string {
  const key = text.trim();
  if (key === '') throw new UsageError(`${where} is empty; it takes a key`);
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new UsageError(`${where} holds spaces, line breaks or characters that no key has`);
  }
  return key;
}

/**
 * One-way identifier of an account. It is the same for the same key at the same service, and it never reveals the key.
 */
export const fingerprint = (key: string, service: string): string =>
  createHmac('sha256', key).update(`errand account at ${service}`).digest('hex').slice(0, 32);

export interface ProfileKey {
  /** Identifies the key among the keys of its profile, without revealing it. */
  readonly id: string;
  readonly key: string;
  /** When the key was stored, ISO 8601. Undefined if the key was stored before errand recorded this time. */
  readonly storedAt: string | undefined;
  readonly isInUse: boolean;
}

/** The account that represents the key of a profile in the journal and the audit chain. */
export const accountOf = (key: string, { base_url: service }: Profile): string => fingerprint(key, service);

/** Keys of a profile, the active one first. Pure. */
export function keysOf({
  base_url: service,
  api_key: key,
  key_stored_at: storedAt,
  other_keys: others = [],
}: Profile): ProfileKey[] {
  const entry = ({ api_key, stored_at }: SpareKey, isInUse: boolean): ProfileKey => ({
    id: fingerprint(api_key, service).slice(0, 8),
    key: api_key,
    storedAt: stored_at,
    isInUse,
  });
  const inUse = key === undefined ? [] : [entry(spareKey(key, storedAt), true)];
  return [...inUse, ...others.map((other) => entry(other, false))];
}

/**
 * Finds a key of a profile, given the start of its id, its last four characters, or its masked form.
 * @throws UsageError if no key or more than one key matches. The error never contains a whole key.
 */
export function keyMatching(name: string, profile: Profile, given: string): ProfileKey {
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
  // Never print a text that looks like a whole key.
  const which = given.length <= 12 ? `"${given}"` : maskKey(given);
  throw new UsageError(`profile ${name} has no key ${which}`, { next });
}

/**
 * Makes a key active in a profile, and keeps the previous key so that no key is lost. If the profile already has the
 * key, that entry is reused. A key command is removed, because the key takes its place.
 * @param storedAt is the time at which the key is stored, ISO 8601. Pure.
 */
export function withKey(profile: Profile, key: string, storedAt: string): Profile {
  if (profile.api_key === key) return profile;
  const {
    api_key: before,
    key_stored_at: beforeAt,
    other_keys: others = [],
    key_command: _,
    ...rest
  } = profile;
  const known = others.find(({ api_key }) => api_key === key);
  const at = known ? known.stored_at : storedAt;
  const spareKeys = [
    ...(before === undefined ? [] : [spareKey(before, beforeAt)]),
    ...others.filter((other) => other !== known),
  ];
  return {
    ...rest,
    api_key: key,
    ...(at !== undefined && { key_stored_at: at }),
    ...(spareKeys.length > 0 && { other_keys: spareKeys }),
  };
}

/** Removes the active key from a profile. With `all`, also removes the spare keys. Pure. */
export function withoutStoredKeys(profile: Profile, all: boolean): Profile {
  const { api_key: _, key_stored_at: __, other_keys: others, ...rest } = profile;
  return all || others === undefined ? rest : { ...rest, other_keys: others };
}

/** Deactivates the active key of a profile, and keeps it as a spare key. Pure. */
export function withKeySetAside({
  api_key: key,
  key_stored_at: storedAt,
  other_keys: others = [],
  ...rest
}: Profile): Profile {
  const all = [...(key === undefined ? [] : [spareKey(key, storedAt)]), ...others];
  return all.length > 0 ? { ...rest, other_keys: all } : rest;
}

export const spareKey = (key: string, storedAt: string | undefined): SpareKey => ({
  api_key: key,
  ...(storedAt !== undefined && { stored_at: storedAt }),
});

/** A change to a stored key. */
export interface KeyChange {
  readonly profile: string;
  /** Service the key belongs to. */
  readonly service: string;
  readonly detail: {
    /** `switched` means that the previous key was kept. */
    readonly change: 'stored' | 'replaced' | 'switched' | 'forgotten';
    readonly what: 'api_key' | 'legacy_token';
    /** Key fingerprints. */
    readonly before: string | null;
    readonly after: string | null;
  };
}

/**
 * Lists the keys that have changed. The first key of the embedded sandbox is left out, because errand mints that key
 * itself. Pure.
 */
export function keyChanges(before: Stored, after: Stored): KeyChange[] {
  const names = new Set([...Object.keys(before.profiles), ...Object.keys(after.profiles)]);
  return [...names].flatMap((name) => {
    const [old, next] = [profileOf(before, name), profileOf(after, name)];
    const inUse = (['api_key', 'legacy_token'] as const).flatMap((what): KeyChange[] => {
      const service = serviceOf(next?.[what] === undefined ? old : next, what);
      const isMintedByItself = service === embeddedUrl && old?.[what] === undefined;
      if (old?.[what] === next?.[what] || isMintedByItself) return [];
      const isSaved = what === 'api_key' && spareKeys(next).includes(old?.api_key ?? '');
      const replaced = isSaved ? 'switched' : 'replaced';
      const change =
        old?.[what] === undefined ? 'stored' : next?.[what] === undefined ? 'forgotten' : replaced;
      const prints = { before: printOf(old?.[what], service), after: printOf(next?.[what], service) };
      return [{ profile: name, service, detail: { change, what, ...prints } }];
    });
    return [...inUse, ...forgottenSpareKeys(name, old, next)];
  });
}

/** Spare keys that the profile no longer has. */
function forgottenSpareKeys(name: string, old: Profile | undefined, next: Profile | undefined): KeyChange[] {
  const service = serviceOf(old, 'api_key');
  const left = [...spareKeys(next), next?.api_key];
  return spareKeys(old)
    .filter((key) => !left.includes(key))
    .map((key) => ({
      profile: name,
      service,
      detail: { change: 'forgotten', what: 'api_key', before: printOf(key, service), after: null },
    }));
}

const spareKeys = (profile: Profile | undefined): string[] =>
  (profile?.other_keys ?? []).map(({ api_key }) => api_key);

const printOf = (key: string | undefined, service: string): string | null =>
  key === undefined ? null : fingerprint(key, service);

const profileOf = ({ profiles }: Stored, name: string): Profile | undefined =>
  Object.hasOwn(profiles, name) ? profiles[name] : undefined;

const serviceOf = (profile: Profile | undefined, what: 'api_key' | 'legacy_token'): string =>
  (what === 'legacy_token' ? profile?.legacy_base_url : undefined) ?? profile?.base_url ?? '';
