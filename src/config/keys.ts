import { createHmac } from 'node:crypto';
import { apiKeyPattern } from '../api/limits.ts';
import { UsageError } from '../platform/errors.ts';
import type { Environment } from './paths.ts';
import type { KeptKey, Profile } from './stored.ts';
import { kept } from './with-key.ts';

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
