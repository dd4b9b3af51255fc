import { describe, expect, test } from 'vitest';
import { checkDatabaseUrl } from '../../../src/config/base-url.ts';
import { withoutKeys } from '../../../src/config/keys.ts';
import { resolveSettings } from '../../../src/config/resolve.ts';
import { emptyStored, type Stored } from '../../../src/config/stored.ts';
import { UsageError } from '../../../src/platform/errors.ts';
import { redactor } from '../../../src/platform/redact/redactor.ts';

const check = (text: string, password?: string) => checkDatabaseUrl(text, 'ERRAND_DATABASE_URL', password);

function refusal(text: string): string {
  try {
    check(text);
  } catch (error) {
    if (error instanceof UsageError) return `${error.message} ${error.facts.hint ?? ''}`;
    throw error;
  }
  return expect.fail(`${text} is not refused`);
}

const unescaped = 'has a / ? or # in its user or password that is not escaped';

describe('the address of a database', () => {
  test.each([
    ['postgres://me:pw-4711-pw@db.example:6000/team', 'db.example:6000/team'],
    ['postgresql://me:pw-4711-pw@db.example/team', 'db.example:5432/team'],
    ['postgres://me@10.0.0.7/team_1?sslmode=disable\n', '10.0.0.7:5432/team_1'],
  ])('%j is shown as %s', (text, shown) => {
    expect(check(text).shown).toBe(shown);
  });

  test('a password of odd characters is kept as it is meant, and shown nowhere', () => {
    const { url, shown } = check('postgres://me:p%40ss%2Fw%23rd%25@db.example/team');
    expect(decodeURIComponent(new URL(url).password)).toBe('p@ss/w#rd%');
    expect(shown).toBe('db.example:5432/team');
    expect(redactor.known('it said p@ss/w#rd% and p%40ss%2Fw%23rd%25')).toBe(
      'it said [redacted] and [redacted]',
    );
  });

  test('a password that is the name of the user is no secret, and no word disappears', () => {
    check('postgres://errand:errand@db.example/errand');
    expect(redactor.known('errand order list')).toBe('errand order list');
  });

  test('an @ in a password need not be escaped', () => {
    expect(decodeURIComponent(new URL(check('postgres://me:p@ss@db.example/team').url).password)).toBe(
      'p@ss',
    );
  });

  test.each(['order', 'journal', 'Resume', '20261231', 'påsse'])(
    'a password that is the word %s takes no word out of messages, and no part of an address is shown',
    (word) => {
      const { url, shown } = check(`postgres://me:${encodeURIComponent(word)}@db.example/team`);
      const line = `errand order journal resume 20261231 ${word}`;
      expect(redactor.text(line)).toBe(line);
      expect([redactor.text(url), shown].join(' ')).not.toContain(encodeURIComponent(word));
    },
  );

  test.each(['Tr0ub4dor', 'correct horse', 'qwmzkfhrtplxvbnc', '123456789', 'order-1'])(
    'the password %s is no word, and is shown nowhere',
    (secret) => {
      check(`postgres://me:${encodeURIComponent(secret)}@db.example/team`);
      expect(redactor.text(`it said ${secret}`)).toBe('it said [redacted]');
    },
  );

  test('an address without a password takes the one of PGPASSWORD', () => {
    expect(new URL(check('postgres://me@db.example/team', 'of-the-variable').url).password).toBe(
      'of-the-variable',
    );
    expect(new URL(check('postgres://me:own@db.example/team', 'of-the-variable').url).password).toBe('own');
  });

  test.each([
    ['postgres://me@localhost/team', 'disable'],
    ['postgres://me@127.0.0.1/team', 'disable'],
    ['postgres://me@db.example/team', 'require'],
    ['postgres://me@db.example/team?sslmode=disable', 'disable'],
    ['postgres://me@db.example/team?sslmode=prefer', 'prefer'],
    ['postgres://me@localhost/team?sslmode=verify-full', 'verify-full'],
  ])('%s is guarded by %s: what crosses a network is encrypted unless it says otherwise', (text, mode) => {
    expect(new URL(check(text).url).searchParams.get('sslmode')).toBe(mode);
  });

  test.each([
    ['', 'is empty'],
    ['db.example', 'is not the address of a PostgreSQL database'],
    ['mysql://me:hunter22@db.example/team', 'is not the address of a PostgreSQL database'],
    ['postgres:me:hunter22@db.example/team', 'is not the address of a PostgreSQL database'],
    ['postgres://me:hun/ter22@db.example/team', unescaped],
    ['postgres://me:12/hunter22@db.example/team', unescaped],
    ['postgres://me:12?hunter22@db.example/team', unescaped],
    ['postgres://me:p@hun/ter22@db.example/team', unescaped],
    ['postgresql://m#e:hunter22@db.example/team', unescaped],
    ['postgres://me:hunter22@/team', 'is not the address of a PostgreSQL database'],
    ['postgres:///team', 'names no host'],
    ['postgres://me:hunter22@db.example', 'names no database'],
    ['postgres://me:hunter22@db.example/', 'names no database'],
    ['postgres://me:hunter22@db.example/my%20team', 'names a database that has other characters'],
    ['postgres://me:hunter22@db.example/team/other', 'names a database that has other characters'],
    ['postgres://db.example/team', 'names no user'],
    ['postgres://me:hunter22@[::1]/team', 'takes one host, by its name or its IPv4 address'],
    ['postgres://me:hunter22@one,two/team', 'takes one host'],
    ['postgres://me:hunter%zz22@db.example/team', 'has a % in its user or password that begins no escape'],
    ['postgres://me:hun%0022@db.example/team', 'holds a control character'],
    ['postgres://me:hun#ter22@db.example/team', unescaped],
    ['postgres://me:hunter22@db.example/team#x', 'holds a #'],
    [
      'postgres://me@db.example/team?sslmode=no',
      'sslmode in ERRAND_DATABASE_URL takes one of disable, prefer',
    ],
    [
      'postgres://me@db.example/team?sslmode=require&sslmode=disable',
      'sslmode in ERRAND_DATABASE_URL takes one',
    ],
    ['postgres://me@db.example/team?synchronous_commit=off', 'has a parameter that errand does not take'],
    ['postgres://me@db.example/team?password=hunter22', 'has a parameter that errand does not take'],
  ])('%j is refused by name, and no part of it is told', (text, why) => {
    const told = refusal(text);
    expect(told).toContain('ERRAND_DATABASE_URL');
    expect(told).toContain(why);
    expect(told).not.toMatch(/hunter22|hun|db\.example|ter22/);
  });
});

describe('where it comes from', () => {
  const of = (environment: Record<string, string>, database?: string) => {
    const stored: Stored = {
      ...emptyStored,
      current_profile: 'work',
      profiles: { work: { base_url: 'embedded:', ...(database !== undefined && { database }) } },
    };
    return resolveSettings({}, environment, stored, { config: '/c', state: '/s' }).database;
  };

  test('the environment, then the profile, then nowhere', () => {
    const [one, other] = ['postgres://me@localhost/one', 'postgres://me@localhost/other'];
    expect(of({ ERRAND_DATABASE_URL: one }, other)).toMatchObject({
      shown: 'localhost:5432/one',
      from: 'environment',
      name: 'ERRAND_DATABASE_URL',
    });
    expect(of({}, other)).toMatchObject({ shown: 'localhost:5432/other', from: 'profile', name: 'work' });
    expect(of({})).toBeUndefined();
  });

  test('an empty variable does not pass for none: the journal of this machine would be used', () => {
    expect(() => of({ ERRAND_DATABASE_URL: ' ' }, 'postgres://me@localhost/team')).toThrow(
      'ERRAND_DATABASE_URL is empty; name the database, or unset it',
    );
  });

  test('one in a profile that is wrong is named', () => {
    expect(() => of({}, 'nonsense')).toThrow('the database of profile work is not the address');
  });

  test('a program that the user has errand run does not get it', () => {
    expect(
      withoutKeys({
        ERRAND_DATABASE_URL: 'postgres://me:pw-4711-pw@localhost/team',
        ...{ PGPASSWORD: 'pw-4711-pw', PGPASSFILE: '/home/me/.pgpass', PGSSLKEY: '/home/me/key.pem' },
        ...{ PATH: '/bin', PGP_KEY: 'mine', PAGER: 'less' },
      }),
    ).toEqual({ PATH: '/bin', PGP_KEY: 'mine', PAGER: 'less' });
  });
});
