import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { embeddedShop, errand } from '../support/run.ts';
import { Terminal } from '../support/terminal.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';
import { Shell } from './shell.ts';

let workspace: Workspace;
let shell: Shell;
let title: string;
let url: string;
let order: string;
const titles = (): string => join(workspace.folder, '.state', 'titles.json');
const search = ['product', 'search', 'coffee', '--retailer', 'harborgoods', '--limit', '1'];

beforeAll(async () => {
  workspace = makeWorkspace();
  [{ title, url }] = JSON.parse((await errand(workspace, [...search, '-o', 'json'])).stdout);
  const never = `${await embeddedShop()}test-never`;
  // Includes a product that is never bought, so that no receipt reveals the titles.
  const create = [
    'order',
    'create',
    '--product',
    `${url},quantity=2`,
    '--product',
    never,
    '--max-price',
    '$200',
  ];
  order = (await errand(workspace, [...create, '--ship-to', 'home', '-o', 'id'])).stdout.trim();
});
beforeEach(() => {
  rmSync(titles(), { force: true });
  shell = new Shell(workspace, { columns: 160 });
});
afterEach(() => shell.close());
afterAll(() => workspace.remove());

const listed = async (): Promise<string> => (await shell.run('errand order list')).text;

test('nothing that scripts do keeps a title', async () => {
  for (const format of [[], ['-o', 'json'], ['-o', 'csv']]) await errand(workspace, [...search, ...format]);
  await errand(workspace, ['product', 'get', url]);
  await shell.run(`errand ${search.join(' ')} -o json`);
  await shell.run(`errand ${search.join(' ')} --fields title,url`);
  expect(existsSync(titles())).toBe(false);
  expect(await listed()).toMatch(/2 x (https:\/\/)?www\.harborgoods\.example\//);
});

test.each([
  ['a search of one retailer', search.join(' ')],
  ['a search', 'search coffee --retailer harborgoods --limit 5'],
  ['a look at the product', 'product get URL'],
])('after %s a list of orders has the title', async (_, line) => {
  await shell.run(`errand ${line.replace('URL', `'${url}'`)}`);
  expect(await listed()).toContain(`  2 x ${title}, http://127.0.0.1`);
  const piped = await errand(workspace, ['order', 'list']);
  expect(piped.stdout).toContain(url);
  expect(piped.stdout).not.toContain(title);
  const json = await shell.run('errand order list -o json');
  expect(json.text).not.toContain(title);
});

test('a record, its lines and an order like it have the title; pipes and JSON have the URL', async () => {
  await shell.run(`errand ${search.join(' ')}`);
  const got = (await shell.run(`errand order get ${order}`)).text;
  expect(got).toContain(`product   2 x ${title}, http://127.0.0.1`);
  expect(got).toMatch(new RegExp(`^  ● .* 2  ${title}$`, 'm'));
  expect(got).not.toContain(url);
  expect((await shell.run(`errand order explain ${order}`)).said).toContain(`2 x ${title}; 1 x http://`);
  const like = ['order', 'create', '--like', order, '--new', '--dry-run'];
  expect((await shell.run(`errand ${like.join(' ')}`)).text).toContain(`  2 x ${title}\n`);
  for (const args of [['order', 'get', order], like]) {
    const piped = await errand(workspace, args);
    expect(piped.stdout).toContain(url);
    expect(piped.stdout + piped.stderr).not.toContain(title);
  }
  expect((await shell.run(`errand order get ${order} -o json`)).text).not.toContain(title);
});

test('a picked product keeps its title, in an order that never was sent too', async () => {
  const terminal = new Terminal(workspace, 'errand', [
    'search',
    'coffee',
    '--pick',
    '--retailer',
    'harborgoods',
  ]);
  try {
    await terminal.shows('Which one?');
    terminal.type('\r');
    await terminal.shows(/harborgoods {2}https/);
    expect(existsSync(titles())).toBe(true);
    terminal.type('\u0003');
    await terminal.ended();
  } finally {
    terminal.close();
  }
});

test('a watch shows the title while it waits', async () => {
  await shell.run(`errand ${search.join(' ')}`);
  const terminal = new Terminal(workspace, 'errand', ['order', 'watch', order], { columns: 160 });
  try {
    await terminal.shows(`2 x ${title}`);
    terminal.type('\u0003');
    expect(await terminal.ended()).toBe(130);
  } finally {
    terminal.close();
  }
});

test('a title in the file can do nothing to the terminal', async () => {
  await shell.run(`errand ${search.join(' ')}`);
  const text = readFileSync(titles(), 'utf8');
  writeFileSync(titles(), text.replace(title, '\\u001b[2J\\u202eevil\\n'));
  const shown = await listed();
  expect(shown).toContain('2 x ␛[2J<U+202E>evil⏎');
  writeFileSync(titles(), '{');
  expect(await listed()).toMatch(/2 x (https:\/\/)?www\.harborgoods\.example\//);
});
