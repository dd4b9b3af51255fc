import { describe, expect, test } from 'vitest';
import { resolveSettings } from '../../../src/config/resolve.ts';
import { emptyStored, type Stored } from '../../../src/config/stored.ts';
import { UsageError } from '../../../src/platform/errors.ts';

const folders = { config: '/c', state: '/s' };
const key = (name: string): string => `abc_test_${name.padEnd(16, '0')}`;
const stored: Stored = {
  ...emptyStored,
  current_profile: 'work',
  profiles: {
    ...emptyStored.profiles,
    work: { base_url: 'https://service.example/v2', api_key: key('stored') },
  },
  preferences: { output: 'yaml', timeout: '7s', retries: 2 },
};
const resolve = (
  flags: Record<string, unknown>,
  environment: Record<string, string>,
  config: Stored = stored,
) => resolveSettings(flags, environment, config, folders);

describe('where a setting comes from', () => {
  test.each([
    ['a flag wins', { output: 'csv' }, { ERRAND_OUTPUT: 'tsv' }, 'csv', 'flag'],
    ['then the environment', {}, { ERRAND_OUTPUT: 'tsv' }, 'tsv', 'environment'],
    ['then the preference', {}, {}, 'yaml', 'preference'],
    ['an empty variable is none', {}, { ERRAND_OUTPUT: '' }, 'yaml', 'preference'],
  ])('%s', (_, flags, environment, value, from) => {
    expect(resolve(flags, environment).output).toMatchObject({ value, from });
  });

  test('then the default', () => {
    expect(resolve({}, {}, emptyStored)).toMatchObject({
      output: { value: 'table', from: 'default' },
      baseUrl: { value: 'embedded:', from: 'default' },
      profile: { value: 'local', from: 'default' },
      timeoutMs: { value: 30_000, from: 'default' },
    });
  });

  test('timeout and retries follow the same order', () => {
    expect(resolve({ timeout: 1000 }, { ERRAND_TIMEOUT: '2s' }).timeoutMs.value).toBe(1000);
    expect(resolve({}, { ERRAND_TIMEOUT: '2s' }).timeoutMs.value).toBe(2000);
    expect(resolve({}, {}).timeoutMs.value).toBe(7000);
    expect(resolve({ retries: 0 }, {}).retries.value).toBe(0);
    expect(resolve({}, {}).retries.value).toBe(2);
  });

  test('the key is the profile’s, or the environment’s, which then is told to hide it', () => {
    expect(resolve({}, {}).apiKey).toMatchObject({ value: key('stored'), from: 'profile', name: 'work' });
    const shadowed = resolve({}, { ERRAND_API_KEY: key('env') });
    expect(shadowed.apiKey).toMatchObject({ value: key('env'), from: 'environment' });
    expect(shadowed.shadowedKey).toBe(key('stored'));
  });

  test('a stored key is never sent to another service than its profile’s', () => {
    expect(resolve({ baseUrl: 'https://elsewhere.example' }, {}).apiKey).toBeUndefined();
    expect(resolve({}, { ERRAND_BASE_URL: 'https://elsewhere.example' }).apiKey).toBeUndefined();
    expect(resolve({ baseUrl: 'https://service.example/v2/' }, {}).apiKey?.value).toBe(key('stored'));
  });

  describe('the legacy token goes to the legacy service of its profile alone', () => {
    const token = key('legacy');
    const kept = (profile: Partial<Stored['profiles'][string]>): Stored => ({
      ...stored,
      profiles: { work: { base_url: 'https://service.example', legacy_token: token, ...profile } },
    });
    const elsewhere = { ERRAND_LEGACY_BASE_URL: 'https://elsewhere.example' };
    const own = { legacy_base_url: 'https://v1.example' };

    test.each<[string, Record<string, string>, Partial<Stored['profiles'][string]>, string | undefined]>([
      ['the base URL where it has no other', {}, {}, token],
      ['its own', {}, own, token],
      ['its own, said again', { ERRAND_LEGACY_BASE_URL: 'https://v1.example/' }, own, token],
      ['not another', elsewhere, own, undefined],
      ['not another in place of the base URL', elsewhere, {}, undefined],
      [
        'not the base URL of another service',
        { ERRAND_BASE_URL: 'https://elsewhere.example' },
        {},
        undefined,
      ],
    ])('%s', (_, environment, profile, value) => {
      expect(resolve({}, environment, kept(profile)).legacyToken?.value).toBe(value);
    });
  });

  test('a trailing slash makes no other service', () => {
    expect(resolve({ baseUrl: 'https://h.example/a/' }, {}).baseUrl.value).toBe('https://h.example/a');
  });

  test.each([
    [{ CI: 'true' }, 'CI is set'],
    [{ ERRAND_NO_INPUT: '1' }, 'ERRAND_NO_INPUT is set'],
  ])('%j: nobody is asked', (environment, why) => {
    expect(resolve({}, environment).noInput).toBe(why);
  });
});

describe('a wrong setting names where it stands and what it takes', () => {
  test.each<[Record<string, unknown>, Record<string, string>, RegExp]>([
    [{}, { ERRAND_OUTPUT: 'xml' }, /ERRAND_OUTPUT.*table, json/],
    [{}, { ERRAND_TIMEOUT: 'soon' }, /ERRAND_TIMEOUT/],
    [{}, { ERRAND_BASE_URL: 'nope' }, /ERRAND_BASE_URL.*nope/],
    [{ baseUrl: 'http://service.example' }, {}, /--base-url.*plain http/],
    [{ baseUrl: 'https://me:pw@service.example' }, {}, /--base-url.*password/],
    [{}, { ERRAND_PROFILE: 'nowhere' }, /ERRAND_PROFILE.*nowhere/],
    [{ profile: 'nowhere' }, {}, /--profile.*nowhere/],
    [{}, { ERRAND_API_KEY: 'two words' }, /ERRAND_API_KEY/],
  ])('%j %j', (flags, environment, message) => {
    expect(() => resolve(flags, environment)).toThrow(UsageError);
    expect(() => resolve(flags, environment)).toThrow(message);
  });

  test.each(['http://127.0.0.1:4848', 'http://localhost:1', 'http://[::1]:80'])(
    '%s: plain http to this machine is fine',
    (url) => {
      expect(resolve({ baseUrl: url }, {}).baseUrl.from).toBe('flag');
    },
  );
});
