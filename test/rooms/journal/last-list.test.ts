import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { LastList, type SavedRow } from '../../../src/journal/saved-files.ts';

const hour = 3600 * 1000;
const row = (id: string, facts: SavedRow['facts'] = {}): SavedRow => ({ id, label: `label of ${id}`, facts });
const list = (...rows: readonly (SavedRow | null)[]) => ({
  kind: 'orders',
  profile: 'local',
  service: 'embedded:',
  rows,
});

describe('the last list of a terminal', () => {
  let folder: string;
  let now: number;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'errand-lists-'));
    now = Date.now();
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const of = (terminal: string): LastList => new LastList(folder, terminal, () => now);
  const files = (): string[] => readdirSync(join(folder, 'lists'));
  const file = (): string => join(folder, 'lists', files()[0] ?? '');

  test('is read as it was written, by the same terminal alone', () => {
    of('34816 100').write(list(row('a', { url: 'https://shop.example/1' }), null, row('b')));
    expect(of('34816 100').read()).toEqual({
      ...list(row('a', { url: 'https://shop.example/1' }), null, row('b')),
      at: now,
    });
    expect(of('34817 100').read()).toBeUndefined();
    expect(of('34816 101').read()).toBeUndefined();
  });

  test('takes the place of the one before; no draft is left', () => {
    of('one').write(list(row('a')));
    of('one').write(list(row('b')));
    expect(of('one').read()?.rows).toEqual([row('b')]);
    expect(files()).toHaveLength(1);
  });

  test('is a file of its owner alone, in a folder of its owner alone', () => {
    of('one').write(list(row('a')));
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder, 'lists')).mode & 0o777).toBe(0o700);
  });

  test('is over after an hour, and where the clock was set back', () => {
    const last = of('one');
    last.write(list(row('a')));
    const written = last.read();
    if (!written) throw new Error('nothing was kept');
    now += hour - 1;
    expect(last.isOver(written)).toBe(false);
    now += 1;
    expect(last.isOver(written)).toBe(true);
    now -= 2 * hour;
    expect(last.isOver(written)).toBe(true);
  });

  test('those of other terminals go once they are long over, and not before', () => {
    of('old').write(list(row('a')));
    const old = file();
    utimesSync(old, new Date(now - 2 * hour), new Date(now - 2 * hour));
    of('one').write(list(row('b')));
    of('two').write(list(row('c')));
    expect(files()).toHaveLength(2);
    expect(of('old').read()).toBeUndefined();
    expect(of('one').read()?.rows).toEqual([row('b')]);
  });

  test('what cannot be written is no failure, and the list before it no longer names rows', () => {
    const last = of('one');
    last.write(list(row('a')));
    const path = file();
    // A file cannot replace a directory.
    rmSync(path);
    writeFileSync(join(folder, 'blocked'), '');
    const blocked = new LastList(join(folder, 'blocked'), 'one', () => now);
    expect(() => blocked.write(list(row('b')))).not.toThrow();
    expect(blocked.read()).toBeUndefined();
  });

  test('is bounded: what comes after two million characters is left out, a row with a huge text is nobody', () => {
    const texts = Array.from({ length: 1000 }, (_, index) =>
      row(String(index), { url: `https://shop.example/${'x'.repeat(3900)}` }),
    );
    of('one').write(list(row('y'.repeat(5000)), ...texts));
    const rows = of('one').read()?.rows ?? [];
    expect(rows[0]).toBeNull();
    expect(rows.length).toBeLessThan(520);
    expect(statSync(file()).size).toBeLessThan(2_200_000);
  });

  test.each([
    ['nothing', ''],
    ['half of it', '{"kind":"orders","prof'],
    ['another thing', '[1,2,3]'],
    ['a list of other types', '{"kind":1,"profile":"local","service":"embedded:","at":1,"rows":[]}'],
    ['no time', '{"kind":"orders","profile":"local","service":"embedded:","at":"now","rows":[]}'],
    ['no rows', '{"kind":"orders","profile":"local","service":"embedded:","at":1,"rows":{"length":1e9}}'],
  ])('a file that holds %s is none', (_, text) => {
    of('one').write(list(row('a')));
    writeFileSync(file(), text);
    expect(of('one').read()).toBeUndefined();
  });

  test('rows of other types are nobody; a prototype is no field', () => {
    of('one').write(list(row('a')));
    const whole = JSON.parse(readFileSync(file(), 'utf8'));
    const rows = [
      { id: 1, label: 'x', facts: {} },
      'a',
      null,
      { id: 'b' },
      { id: 'c', label: '', facts: [] },
    ];
    writeFileSync(file(), JSON.stringify({ ...whole, rows }));
    expect(of('one').read()?.rows).toEqual([null, null, null, null, { id: 'c', label: '', facts: {} }]);
    writeFileSync(file(), `{"__proto__":${JSON.stringify(whole)}}`);
    expect(of('one').read()).toBeUndefined();
  });

  test('a link in its place is not followed', () => {
    of('one').write(list(row('a')));
    const path = file();
    const elsewhere = join(folder, 'elsewhere.json');
    writeFileSync(elsewhere, readFileSync(path));
    rmSync(path);
    symlinkSync(elsewhere, path);
    expect(of('one').read()).toBeUndefined();
    of('one').write(list(row('b')));
    expect(readFileSync(elsewhere, 'utf8')).toContain('label of a');
    expect(of('one').read()?.rows).toEqual([row('b')]);
  });

  test('a file that others could read is tightened', () => {
    of('one').write(list(row('a')));
    chmodSync(file(), 0o644);
    expect(of('one').read()?.rows).toEqual([row('a')]);
    expect(statSync(file()).mode & 0o777).toBe(0o600);
  });
});
