import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { orderOf, shell } from '../support/run.ts';
import { serveAt } from '../support/served.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';

const dist = new URL('../../dist/', import.meta.url);
const text = (file: string): string => readFileSync(new URL(file, dist), 'utf8');

/** Built files loaded eagerly with a file, including itself: each costs about a millisecond at start-up. */
function loadedWith(file: string, found = new Set<string>()): string[] {
  if (found.has(file)) return [...found];
  found.add(file);
  // A require inside a function is lazy.
  const [atOnce = ''] = text(file).split('.then(');
  for (const [, next = ''] of atOnce.matchAll(/\brequire\("\.\/([^"]+)"\)/g)) loadedWith(next, found);
  return [...found];
}

const plain = (files: readonly string[]): string[] =>
  files.map((file) => file.replace(/-[\w-]{8}\.cjs$/, '').replace(/\.cjs$/, ''));

/** Finds a lazily loaded file by its name's prefix. */
const later = (file: string, name: string): string =>
  new RegExp(`require\\("\\./(${name}-[^"]+)"`).exec(text(file))?.[1] ?? `no ${name} in ${file}`;

function tidyPlace(): Workspace {
  const workspace = makeWorkspace();
  onTestFinished(workspace.remove);
  return workspace;
}

/** The built files a command loads, without hashes. @throws if it fails. */
const filesOf = async (workspace: Workspace, line: string): Promise<string[]> =>
  plain(await namesOf(workspace, line)).toSorted();

/** Like `filesOf`, with the hashes. */
async function namesOf(workspace: Workspace, line: string): Promise<string[]> {
  const folder = mkdtempSync(join(workspace.folder, 'loaded-'));
  const ended = await shell(workspace, `NODE_V8_COVERAGE=${folder} ${line}`);
  if (ended.code !== 0) throw new Error(ended.stderr);
  const [report = ''] = readdirSync(folder);
  const { result } = JSON.parse(readFileSync(join(folder, report), 'utf8'));
  return result.flatMap(({ url }: { url: string }) =>
    url.startsWith(dist.href) ? [url.slice(dist.href.length)] : [],
  );
}

/** The sources of built files. */
const sourcesOf = (files: readonly string[]): string[] =>
  files
    .filter((file) => existsSync(new URL(`${file}.map`, dist)))
    .flatMap((file) => JSON.parse(text(`${file}.map`)).sources);

/** Code needed only for a shared database: its client and the local copy. */
const isOfDatabase = (source: string): boolean =>
  /node_modules\/postgres\/|src\/journal\/postgres\//.test(source);

describe('the built program loads', () => {
  test.each(['--version', '--help', ''])('for `errand %s` one file', async (words) => {
    expect(await filesOf(tidyPlace(), `errand ${words}`)).toEqual(['quick']);
  });

  test('for what is coloured or on a terminal its beginning besides', async () => {
    expect(await filesOf(tidyPlace(), 'FORCE_COLOR=1 errand --help')).toEqual(
      ['first', 'main', 'quick', 'rolldown-runtime', 'source'].toSorted(),
    );
  });

  test('for the help no command that runs, no library but the parser of the command line', () => {
    expect(plain(loadedWith(later('main.cjs', 'help')))).toEqual(['help', 'rolldown-runtime', 'first']);
  });

  test('for a TAB one file, without the errors and the redaction of commands', async () => {
    const workspace = tidyPlace();
    await orderOf(workspace, 'test-slow');
    expect(await filesOf(workspace, "errand __complete -- order get ''")).toEqual(['complete']);
    const unused = sourcesOf(['complete.cjs']).filter((source) =>
      /src\/(?:errors\.ts|redact\/)/.test(source),
    );
    expect(unused).toEqual([]);
  });

  test('in ASCII alone: of a text beyond it V8 keeps each character in two bytes', () => {
    const beyond = readdirSync(dist).filter((name) => /\.cjs$/.test(name) && /[^\x00-\x7f]/.test(text(name)));
    expect(beyond).toEqual([]);
  });

  const always = ['command', 'first', 'help', 'main', 'order', 'rolldown-runtime'];

  test('for an order in the embedded sandbox what an order needs, in few files', async () => {
    const workspace = tidyPlace();
    await orderOf(workspace, 'test-slow');
    const create = "errand order create --product http://127.0.0.1:4848/shop/test-slow --max-price '$9'";
    expect(await filesOf(workspace, `${create} --ship-to home --new -o id`)).toEqual(
      [...always, 'sandbox', 'schemas'].toSorted(),
    );
  });

  test('without a database nothing of one, whether it orders, lists or tells its version', async () => {
    const workspace = tidyPlace();
    await orderOf(workspace, 'test-slow');
    const create = "errand order create --product http://127.0.0.1:4848/shop/test-slow --max-price '$9'";
    for (const line of ['errand --version', `${create} --ship-to home --new`, 'errand order journal list'])
      expect(sourcesOf(await namesOf(workspace, line)).filter(isOfDatabase), line).toEqual([]);
    // The build does contain it, so the check is meaningful.
    const all = readdirSync(dist).filter((file) => file.endsWith('.cjs'));
    expect(sourcesOf(all).filter(isOfDatabase).length).toBeGreaterThan(5);
  });

  test('for an order that is read nothing that checks', async () => {
    const workspace = tidyPlace();
    const id = await orderOf(workspace, 'test-slow');
    await shell(workspace, `errand sandbox advance 1d; errand order get ${id}`);
    expect(await filesOf(workspace, `errand order get ${id} -o json`)).toEqual(
      [...always, 'sandbox'].toSorted(),
    );
  });

  test('for standing orders of which none is due no parser of their file', async () => {
    const workspace = tidyPlace();
    await shell(workspace, 'errand sandbox mint --no-store -o json --query example_order > order.json');
    Object.assign(workspace.environment, {
      ERRAND_BASE_URL: 'http://127.0.0.1:9',
      ERRAND_API_KEY: 'sbx_test_0',
    });
    await shell(workspace, 'errand standing add coffee --file order.json --every 1mo --starts 2090-01-01');
    await shell(workspace, 'errand standing run');
    expect(await filesOf(workspace, 'errand standing run')).toEqual([...always, 'standing'].toSorted());
  });

  test("for an order that is read none of Node's performance hooks, lists of addresses and loaders of modules", async () => {
    const workspace = tidyPlace();
    const id = await orderOf(workspace, 'test-slow');
    const hook = join(workspace.folder, 'hook.cjs');
    const list = join(workspace.folder, 'list.txt');
    const written = `fs.writeFileSync('${list}', process.moduleLoadList.join(' '))`;
    // Disable the timer after which a command starts watching its memory, however slow the machine.
    const endless = 'const plain = setTimeout; globalThis.setTimeout = (act) => plain(act, 2 ** 31 - 1);';
    writeFileSync(hook, `${endless} const fs = require('node:fs'); process.on('exit', () => ${written});`);
    await shell(workspace, `NODE_OPTIONS=--require=${hook} errand order get ${id}`);
    const loaded = readFileSync(`${list}`, 'utf8');
    expect(loaded).toContain('NativeModule net');
    expect(loaded).not.toMatch(/NativeModule (?:perf_hooks|internal\/blocklist|module)(?: |$)/);
  });

  test('for a service elsewhere no sandbox', async () => {
    const workspace = tidyPlace();
    const { url } = await serveAt(workspace, '--memory');
    const there = `errand profile set there --base-url ${url} && errand sandbox mint --profile there`;
    expect(await shell(workspace, there)).toMatchObject({ code: 0 });
    expect(await filesOf(workspace, 'errand order list --profile there')).not.toContain('sandbox');
  });
});
