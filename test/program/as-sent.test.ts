import { afterEach, beforeEach, expect, test } from 'vitest';
import { peer } from '../http/peer.ts';
import { errand } from './run.ts';
import { makeWorkspace, type Workspace } from './workspace.ts';

let workspace: Workspace;
beforeEach(() => {
  workspace = makeWorkspace({ ERRAND_API_KEY: 'xx_test_abcdefghijkl1234' }, { oddService: true });
});
afterEach(() => workspace.remove());

/** What `order list --all` prints of pages that come just so, a record a line. */
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
