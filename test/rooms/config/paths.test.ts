import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { homeOf, makeConfigFolder, makeStateFolder, resolveFolders } from '../../../src/config/paths.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'errand-paths-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const modeOf = (path: string): number => statSync(path).mode & 0o7777;

describe('a folder of errand', () => {
  test('is made with those above it, and none but its owner can enter it', () => {
    const deep = join(folder, 'a', 'b');
    makeConfigFolder(deep);
    expect([modeOf(deep), modeOf(join(folder, 'a'))]).toEqual([0o700, 0o700]);
  });

  test('that was looser is tightened', () => {
    chmodSync(folder, 0o755);
    makeStateFolder(folder, false);
    expect(modeOf(folder)).toBe(0o700);
  });

  test('that everybody writes to, as /tmp, is refused and left as it is', () => {
    const shared = join(folder, 'shared');
    mkdirSync(shared);
    chmodSync(shared, 0o1777);
    expect(() => makeStateFolder(shared, false)).toThrow(/shared cannot be made or written \(it is shared/);
    expect(modeOf(shared)).toBe(0o1777);
  });
});

describe('the folders of the platform', () => {
  test('follow HOME and the XDG variables', () => {
    expect(resolveFolders({ HOME: '/home/ada' }, 'linux')).toEqual({
      config: '/home/ada/.config/errand',
      state: '/home/ada/.local/state/errand',
    });
    const xdg = { HOME: '/home/ada', XDG_CONFIG_HOME: '/etc/ada', XDG_STATE_HOME: '/var/ada' };
    expect(resolveFolders(xdg, 'linux')).toEqual({ config: '/etc/ada/errand', state: '/var/ada/errand' });
  });

  test.each(['', '.', 'config'])('are never below the working folder because a variable is "%s"', (path) => {
    const { config, state } = resolveFolders(
      { HOME: path, XDG_CONFIG_HOME: path, XDG_STATE_HOME: path },
      'linux',
    );
    expect(config).toBe(join(homeOf({}), '.config', 'errand'));
    expect(state).toBe(join(homeOf({}), '.local', 'state', 'errand'));
    expect(homeOf({})).toMatch(/^\//);
  });
});
