import { createHmac } from 'node:crypto';
import { apiKeyPattern } from '../api/limits.ts';
import { UsageError } from '../platform/errors.ts';
import type { Environment } from './paths.ts';
import { embeddedUrl, type KeptKey, type Profile, type Stored } from './stored.ts';

/** A key as it may be shown: `xx_test_…a1b2`. What has no known form shows nothing but its last four characters. */
export function maskKey(key: string): string {
  const [, prefix, mode, secret = ''] = apiKeyPattern.exec(key) ?? [];
  const tail = (secret || key).length > 12 ? (secret || key).slice(-4) : '';
  return prefix === undefined ? `…${tail}` : `${prefix}_${mode}_…${tail}`;
}

/** Whether a key rehearses or spends; undefined where its form does not tell. */
export function keyMode(key: string): 'test' | 'live' | undefined {
  const mode = apiKeyPattern.exec(key)?.[2];
  return mode === 'test' || mode === 'live' ? mode : undefined;
}

/** Variables that hold what must reach no program but this one. */
const secretVariables: readonly string[] = ['ERRAND_API_KEY', 'ERRAND_LEGACY_TOKEN', 'ERRAND_DATABASE_URL'];

/** The environment for a program that the user has errand run. */
export const withoutKeys = (environment: Environment): Environment =>
  Object.fromEntries(Object.entries(environment).filter(([name]) => !secretVariables.includes(name)));

/** A key as it goes into a header. @throws UsageError naming where it came from, never showing it. */
export function checkKey(text: string, where: string): string {
  const key = text.trim();
  if (key === '') throw new UsageError(`${where} is empty; it takes a key`);
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new UsageError(`${where} holds spaces, line breaks or characters that no key has`);
  }
  return key;
}

/** What tells accounts apart and cannot be turned back into the key: equal for the same key at the same service. */
export const fingerprint = (key: string, service: string): string =>
  createHmac('sha256', key).update(`errand account at ${service}`).digest('hex').slice(0, 32);

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

/** A stored key that is about to be another one, or none. */
export interface KeyChange {
  readonly profile: string;
  /** The service that the key is for. */
  readonly service: string;
  readonly detail: {
    /** `switched` where the one before is kept beside it. */
    readonly change: 'stored' | 'replaced' | 'switched' | 'forgotten';
    readonly what: 'api_key' | 'legacy_token';
    /** Fingerprints of the keys. */
    readonly before: string | null;
    readonly after: string | null;
  };
}

/** Which keys differ. The first key of the embedded sandbox is none of them: errand mints it by itself. Pure. */
export function keyChanges(before: Stored, after: Stored): KeyChange[] {
  const names = new Set([...Object.keys(before.profiles), ...Object.keys(after.profiles)]);
  return [...names].flatMap((name) => {
    const [old, next] = [profileOf(before, name), profileOf(after, name)];
    const inUse = (['api_key', 'legacy_token'] as const).flatMap((what): KeyChange[] => {
      const service = serviceOf(next?.[what] === undefined ? old : next, what);
      const isMintedByItself = service === embeddedUrl && old?.[what] === undefined;
      if (old?.[what] === next?.[what] || isMintedByItself) return [];
      const isKept = what === 'api_key' && beside(next).includes(old?.api_key ?? '');
      const replaced = isKept ? 'switched' : 'replaced';
      const change =
        old?.[what] === undefined ? 'stored' : next?.[what] === undefined ? 'forgotten' : replaced;
      const prints = { before: printOf(old?.[what], service), after: printOf(next?.[what], service) };
      return [{ profile: name, service, detail: { change, what, ...prints } }];
    });
    return [...inUse, ...forgottenBeside(name, old, next)];
  });
}

/** The keys beside the one in use that a profile has no more. */
function forgottenBeside(name: string, old: Profile | undefined, next: Profile | undefined): KeyChange[] {
  const service = serviceOf(old, 'api_key');
  const left = [...beside(next), next?.api_key];
  return beside(old)
    .filter((key) => !left.includes(key))
    .map((key) => ({
      profile: name,
      service,
      detail: { change: 'forgotten', what: 'api_key', before: printOf(key, service), after: null },
    }));
}

const beside = (profile: Profile | undefined): string[] =>
  (profile?.other_keys ?? []).map(({ api_key }) => api_key);

const printOf = (key: string | undefined, service: string): string | null =>
  key === undefined ? null : fingerprint(key, service);

const profileOf = ({ profiles }: Stored, name: string): Profile | undefined =>
  Object.hasOwn(profiles, name) ? profiles[name] : undefined;

const serviceOf = (profile: Profile | undefined, what: 'api_key' | 'legacy_token'): string =>
  (what === 'legacy_token' ? profile?.legacy_base_url : undefined) ?? profile?.base_url ?? '';
