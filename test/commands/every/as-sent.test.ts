import { afterEach, beforeEach, expect, test } from 'vitest';
import { peer } from '../../support/peer.ts';
import { errand } from '../../support/run.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

let workspace: Workspace;
beforeEach(() => {
  workspace = makeWorkspace({ ERRAND_API_KEY: 'xx_test_abcdefghijkl1234' }, { oddService: true });
});
afterEach(() => workspace.remove());

/** Runs `order list --all` on pages with these exact bodies; returns one line per record. */
async function listed(pages: readonly string[], ...more: readonly string[]): Promise<string[]> {
  const there = await peer(
    ...pages.map((page) => (response: { end: (text: string) => void }) => response.end(page)),
  );
  workspace.environment.ERRAND_BASE_URL = there.url;
  const { code, stdout, stderr } = await errand(workspace, [
    ...['order', 'list', '--all', '-o', 'ndjson'],
    ...more,
  ]);
  expect(code, stderr).toBe(0);
  expect(stdout.endsWith('\n')).toBe(true);
  return stdout.slice(0, -1).split('\n');
}

const pageOf = (...records: readonly string[]): string =>
  `{"orders":[${records.join(',')}],"total":${records.length}}`;

test('a record is written as the service sent it, to the last figure', async () => {
  const records = [
    '{"id":"a","price":1.50,"big":12345678901234567890,"tiny":1e-9}',
    '{"id":"b","items":[{"url":"http://x/,}]{["},[]],"payment":{}}',
    '{}',
  ];
  expect(await listed([`${pageOf(...records)}\n`])).toEqual(records);
});

test.each([
  ['an escape', '{"id":"a","city":"Orl\\u00e9ans"}', '{"id":"a","city":"Orléans"}'],
  ['an escape of what would be hidden', '{"id":"a","x":"\\u202e"}', '{"id":"a","x":"\\u202e"}'],
  ['what would be hidden', '{"id":"a","x":"\u202e\u009b"}', '{"id":"a","x":"\\u202e\\u009b"}'],
  ['a character that a terminal deletes with', '{"id":"a","x":"\u007f"}', '{"id":"a","x":"\\u007f"}'],
  ['a line break between fields', '{"id":"a",\n"x":1}', '{"id":"a","x":1}'],
  ['spaces', '{ "id": "a" }', '{"id":"a"}'],
  ['an accent', '{"id":"a","city":"Orléans"}', '{"id":"a","city":"Orléans"}'],
])('%s is written so that a line is safe and easily found', async (_, sent, written) => {
  expect(await listed([pageOf('{"id":"z"}', sent)])).toEqual(['{"id":"z"}', written]);
});

test('one record that is written anew leaves the others of a long page, and their order, as they are', async () => {
  const records = Array.from(
    { length: 900 },
    (_, index) => `{"id":"${index}","n":1.0,"x":"${'-'.repeat(400)}"}`,
  );
  records[450] = '{"id":"450","x":"\\u00e9"}';
  expect(await listed([pageOf(...records)])).toEqual(records.with(450, '{"id":"450","x":"é"}'));
});

test('a record longer than a piece is whole', async () => {
  const long = `{"id":"long","x":"${'-'.repeat(300_000)}"}`;
  expect(await listed([pageOf('{"id":"a"}', long, '{"id":"b"}', long.replace('long', 'other'))])).toEqual([
    '{"id":"a"}',
    long,
    '{"id":"b"}',
    long.replace('long', 'other'),
  ]);
});

test('what stands as deep as a record and is none is not taken for one', async () => {
  const more = '"orders":[{"id":"old"}],"notes":{"x":{"y":1}}';
  const page = `{${more},"orders":[{"id":"a"},{"id":"b"},7,["c"],null],"others":[[1],[2]],"total":2}`;
  expect(await listed([page])).toEqual(['{"id":"a"}', '{"id":"b"}', '["c"]']);
});

test.each([
  [
    'a field of the same name within another',
    '{"notes":{"orders":[{"id":"x"}]},"orders":[{"id":"a"}],"total":1}',
  ],
  ['one after it', '{"orders":[{"id":"a"}],"notes":{"orders":[{"id":"x"}]},"total":1}'],
  ['the same field again', '{"orders":[{"id":"x"}],"orders":[{"id":"a"}],"total":1}'],
  ['the same field spelt otherwise', '{"orders":[{"id":"x"}],"\\u006frders":[{"id":"a"}],"total":1}'],
  ['its name in a text', '{"note":"\\"orders\\":[{","orders":[{"id":"a"}],"total":1}'],
  ['its name as a value', '{"note":["orders"],"orders":[{"id":"a"}],"total":1}'],
])('%s does not stand for the records', async (_, page) => {
  expect(await listed([page])).toEqual(['{"id":"a"}']);
});

test.each([
  ['a word that is none', '{"id":"b","x":tru}'],
  ['a number that is none', '{"id":"b","x":01}'],
  ['an escape that is none', '{"id":"b","x":"\\x"}'],
  ['a comma too many', '{"id":"b",}'],
  ['no end', '{"id":"b"'],
  ['too much within each other', `{"id":"b","x":${'['.repeat(198)}${']'.repeat(198)}}`],
])('%s in one record is not the JSON of a service', async (_, record) => {
  const there = await peer((response) => void response.end(pageOf('{"id":"a"}', record)));
  workspace.environment.ERRAND_BASE_URL = there.url;
  const { code, stdout, stderr } = await errand(workspace, ['order', 'list', '--all', '-o', 'ndjson']);
  expect([code === 0, stdout]).toEqual([false, '']);
  expect(stderr).toContain('text that is not JSON');
});

test('as deep as a response may be, a record is written', async () => {
  const deep = `{"id":"a","x":${'['.repeat(197)}${']'.repeat(197)}}`;
  expect(await listed([pageOf(deep)])).toEqual([deep]);
});

test.each([
  ['the same id', '{"id":"b","n":2}'],
  ['the same id, spelt otherwise', '{"id":"\\u0062"}'],
  ['the same id under a name that is spelt otherwise', '{"\\u0069d":"b"}'],
  ['the same id as the last of two', '{"id":"x","id":"b"}'],
  ['the same id beside one within', '{"id":"b","items":[{"id":"y"}],"x":{"id":"z"}}'],
])('%s in the next page is a repeat', async (_, again) => {
  const pages = [
    '{"orders":[{"id":"a"},{"id":"b"}],"total":4}',
    `{"orders":[${again},{"id":"c"}],"total":4}`,
  ];
  expect(await listed(pages)).toEqual(['{"id":"a"}', '{"id":"b"}', '{"id":"c"}']);
});

test('a record without an id is a repeat where all of it is the same', async () => {
  const pages = ['{"orders":[{"x":1},{"x":2}],"total":4}', '{"orders":[{"x":2.0},{"x":3}],"total":4}'];
  expect(await listed(pages)).toEqual(['{"x":1}', '{"x":2}', '{"x":3}']);
});

test('a record that a page repeats is written once', async () => {
  const pages = [
    '{"orders":[{"id":"a"},{"id":"b"}],"total":4}',
    '{"orders":[{"id":"b"},{"id":"c"}],"total":4}',
  ];
  expect(await listed(pages)).toEqual(['{"id":"a"}', '{"id":"b"}', '{"id":"c"}']);
});

test('--fields chooses among what was sent', async () => {
  expect(await listed([pageOf('{"id":"a","x":1.50,"y":2}')], '--fields', 'id,x')).toEqual([
    '{"id":"a","x":1.5}',
  ]);
});

test('an empty list is no line', async () => {
  const there = await peer((response) => void response.end(pageOf()));
  workspace.environment.ERRAND_BASE_URL = there.url;
  const { code, stdout } = await errand(workspace, ['order', 'list', '-o', 'ndjson']);
  expect([code, stdout]).toEqual([0, '']);
});
