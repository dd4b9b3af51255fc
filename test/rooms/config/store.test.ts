import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SettingsStore } from '../../../src/config/store.ts';
import { BrokenConfigError } from '../../../src/config/stored.ts';
import { StorageError, UsageError } from '../../../src/platform/errors.ts';

describe('the stored configuration', () => {
  let folder: string;
  let notes: string[];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'errand-config-'));
    notes = [];
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const open = (): SettingsStore => new SettingsStore(folder, (line) => notes.push(line));
  const file = (): string => join(folder, 'config.json');
  const refusalOf = (use: () => unknown): string => {
    try {
      use();
      return '';
    } catch (error) {
      return error instanceof UsageError ? `${error.message} ${error.facts.hint}` : String(error);
    }
  };
  const mode = (path: string): number => statSync(path).mode & 0o777;

  test('is kept with mode 0600 in a folder of 0700, whatever the umask', async () => {
    const before = process.umask(0);
    try {
      await open().setPreference('output', 'json');
    } finally {
      process.umask(before);
    }
    expect(mode(file())).toBe(0o600);
    expect(mode(folder)).toBe(0o700);
  });

  test('is tightened where others could read it, and that is told', async () => {
    await open().setPreference('output', 'json');
    chmodSync(file(), 0o644);
    expect(open().stored.preferences.output).toBe('json');
    expect(mode(file())).toBe(0o600);
    expect(notes.join()).toContain('could be used by others (mode 0644); its mode is 0600 now');
  });

  test('is not read or written through a link', async () => {
    const elsewhere = join(folder, 'elsewhere.json');
    writeFileSync(elsewhere, '{}');
    symlinkSync(elsewhere, file());
    expect(() => open().stored).toThrow(StorageError);
    await expect(open().setPreference('output', 'json')).rejects.toThrow(/link/);
    expect(readFileSync(elsewhere, 'utf8')).toBe('{}');
  });

  test.each([
    ['{"profiles": {', /line 1/],
    ['{"preferences":\n  nonsense}', /is not JSON \(line 2\)/],
    ['[]', /the file/],
    ['{"profiles": {"work": {"base_url": 5}}}', /profiles\.work\.base_url/],
    ['{"profiles": {"__proto__": {}}}', /__proto__/],
  ])('%j: reading is refused with the place, and the file is left as it is', (text, place) => {
    writeFileSync(file(), text);
    expect(() => open().stored).toThrow(BrokenConfigError);
    expect(() => open().stored).toThrow(place);
    expect(readFileSync(file(), 'utf8')).toBe(text);
  });

  test('nothing that stands in a broken file is quoted: it may be a key', () => {
    const key = 'zz_live_Qm9vPZ3x7RfKc2T8wLdY';
    const whole = JSON.stringify({ profiles: { work: { base_url: 'https://a.example', api_key: key } } });
    const pieces = Array.from(key.slice(0, -3), (_, at) => key.slice(at, at + 4));
    for (let at = 0; at < whole.length; at += 1) {
      for (const put of ['', '"', '\n', '\\', 'x', '}']) {
        const text = whole.slice(0, at) + put + whole.slice(at + 1);
        writeFileSync(file(), text);
        const said = refusalOf(() => open().stored);
        expect(pieces.filter((piece) => said.includes(piece))).toEqual([]);
      }
    }
    writeFileSync(file(), `${whole.slice(0, -3)}\n${key}`);
    expect(refusalOf(() => open().stored)).toContain('(line 2)');
  });

  test('a write keeps a broken file aside, says so, and begins anew', async () => {
    writeFileSync(file(), 'not JSON');
    await open().setPreference('output', 'json');
    const aside = readdirSync(folder).find((name) => name.includes('broken'));
    expect(readFileSync(join(folder, aside ?? ''), 'utf8')).toBe('not JSON');
    expect(notes.join()).toContain('kept as');
    expect(open().stored.preferences.output).toBe('json');
  });

  test('profiles: made, used, deleted; local stays', async () => {
    const store = open();
    await store.setProfile('work', () => ({ base_url: 'https://service.example' }));
    await store.useProfile('work');
    expect(open().stored.current_profile).toBe('work');
    await store.deleteProfile('work');
    expect(open().stored.current_profile).toBe('local');
    await expect(store.deleteProfile('local')).rejects.toThrow(UsageError);
    await expect(store.useProfile('work')).rejects.toThrow(/no profile/);
    await expect(store.setProfile('../x', () => ({ base_url: 'embedded:' }))).rejects.toThrow(/cannot name/);
  });

  test('addresses: the first one saved is the default, until it is removed', async () => {
    const store = open();
    await store.addAddress('home', { city: 'Austin' }, { asDefault: false, replace: false });
    await store.addAddress('work', { city: 'Houston' }, { asDefault: false, replace: false });
    expect(open().defaultAddress()?.name).toBe('home');
    await store.deleteAddress('home');
    expect(open().defaultAddress()?.name).toBe('work');
  });

  test('a folder that cannot be made is named, and nothing is written', async () => {
    writeFileSync(join(folder, 'plain'), '');
    const store = new SettingsStore(join(folder, 'plain', 'config'), () => {});
    await expect(store.setPreference('output', 'json')).rejects.toThrow(join(folder, 'plain', 'config'));
  });

  test('a folder in the place of the file is refused by name', () => {
    mkdirSync(file());
    expect(() => open().stored).toThrow(file());
  });
});
