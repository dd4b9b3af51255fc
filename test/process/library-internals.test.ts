import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'csv-parse';
import {
  buildConnector,
  Dispatcher,
  Agent as PublicAgent,
  Pool as PublicPool,
  ProxyAgent as PublicProxyAgent,
} from 'undici';
import { describe, expect, test } from 'vitest';
import { Agent, connectorOf, loadProxying } from '../../src/http/transport/undici-internals.ts';
import { latestKnownV8, v8Flags } from '../../src/platform/memory.ts';

interface Stub {
  readonly library: string;
  readonly module: string;
}

const root = fileURLToPath(new URL('../..', import.meta.url));
const { stubs }: { stubs: readonly Stub[] } = await import(join(root, '.ci/stubs.js'));

const filesIn = (folder: string, ending: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => join(folder, name));

describe('what is taken from within undici', () => {
  test('is what undici gives to everyone', async () => {
    const { connect, Pool, ProxyAgent } = await loadProxying();
    expect([Agent, connectorOf]).toEqual([PublicAgent, buildConnector]);
    expect([Pool, ProxyAgent]).toEqual([PublicPool, PublicProxyAgent]);
    expect(connect).toBe(Dispatcher.prototype.connect);
  });

  test('is imported in one file', () => {
    const importing = filesIn(join(root, 'src'), '.ts').filter((file) =>
      /(?:from |import\()'undici\//.test(readFileSync(file, 'utf8')),
    );
    expect(importing).toEqual([join(root, 'src/http/transport/undici-internals.ts')]);
  });
});

test('csv-parse holds each row against a length, which its state has', () => {
  const api: unknown = Reflect.get(parse(), 'api');
  const state = { record: [], expectedRecordLength: undefined };
  expect(api).toMatchObject({ state, __onRecord: expect.any(Function) });
});

describe('what the build leaves out of a library', () => {
  test.each(stubs)('$library loads $module', ({ library, module }) => {
    const own = [
      ...filesIn(join(root, 'node_modules', library), '.js'),
      ...filesIn(join(root, 'node_modules', library), '.mjs'),
    ].filter((file) => !file.slice(root.length + 'node_modules/'.length).includes('node_modules'));
    const loads = (text: string): boolean =>
      text.includes(`require('${module}')`) ||
      text.includes(`from '${module}'`) ||
      text.includes(`from "${module}"`);
    expect(own.some((file) => loads(readFileSync(file, 'utf8')))).toBe(true);
  });

  test('is not in the bundle', () => {
    const sources = filesIn(join(root, 'dist'), 'js.map').flatMap(
      (file): string[] => JSON.parse(readFileSync(file, 'utf8')).sources,
    );
    const leftOut = [
      /undici\/.*client-h2\.js$/,
      /undici\/.*fetch\/body\.js$/,
      /@colors\//,
      /cli-table3\/node_modules\//,
    ];
    expect(sources.length).toBeGreaterThan(100);
    expect(sources.filter((source) => leftOut.some((pattern) => pattern.test(source)))).toEqual([]);
  });
});

describe('V8', () => {
  test.each(Object.values(v8Flags))('knows %s', (flag) => {
    expect(execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' })).toContain(`${flag} `);
  });

  test('is no later than the latest whose flags are known', () => {
    expect(Number.parseInt(process.versions.v8, 10)).toBeLessThanOrEqual(latestKnownV8);
  });
});
