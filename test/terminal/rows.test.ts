import { afterEach, beforeEach, expect, test } from 'vitest';
import { errand } from '../support/run.ts';
import { Terminal } from '../support/terminal.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';

const enter = '\r';
const clear = '\u0015';

let workspace: Workspace;
let terminal: Terminal;

beforeEach(() => {
  workspace = makeWorkspace();
});
afterEach(() => {
  terminal.close();
  workspace.remove();
});

/** Runs a command line in a single terminal session. */
function open(line: string): void {
  terminal = new Terminal(workspace, 'bash', ['--norc', '--noprofile', '-c', line]);
}

const json = async (...args: string[]) =>
  JSON.parse((await errand(workspace, [...args, '-o', 'json'])).stdout);

test('the number of a row answers what to order, and one that names nothing is asked again', async () => {
  const [, second] = await json('search', 'coffee', '--limit', '3');
  open("errand search coffee --limit 3 && errand order create --max-price '$90'");
  await terminal.shows('What to order');
  terminal.type(`@9${enter}`);
  await terminal.shows('@9: the last list has 3 rows');
  terminal.type(`${clear}@2,quantity=2${enter}`);
  await terminal.shows('Place this order?');
  terminal.type(`y${enter}`);
  expect(await terminal.ended()).toBe(0);
  expect(terminal.text.replaceAll(/\s+/g, ' ')).toContain(`@2,quantity=2 is product ${second.url}`);
  expect(await json('order', 'list')).toMatchObject([{ items: [{ url: second.url, quantity: 2 }] }]);
});

test('a row of something else than products is not searched for as words', async () => {
  open('errand retailer list --limit 1; errand order create');
  await terminal.shows('What to order');
  terminal.type(`@1${enter}`);
  await terminal.shows('@1 names nothing: this terminal has printed no list yet');
  expect(terminal.text).not.toContain('Which one?');
  terminal.type('\u0003');
  expect(await terminal.ended()).toBe(130);
});

test('a retailer that contradicts the row or the URL is refused; one that says the same is taken', async () => {
  const [first] = await json('search', 'coffee', '--limit', '1', '--retailer', 'harborgoods');
  open(
    'errand search coffee --limit 1 --retailer harborgoods && errand product get @1 --retailer voltcorner',
  );
  expect(await terminal.ended()).toBe(2);
  expect(terminal.text.replaceAll(/\s+/g, ' ')).toContain(
    `error: --retailer is voltcorner, and ${first.url} is of harborgoods; leave --retailer out`,
  );
  const get = ['product', 'get', first.url, '--retailer'];
  const refused = await errand(workspace, [...get, 'voltcorner']);
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toContain(
    `--retailer is voltcorner, and ${first.url} is of harborgoods; leave --retailer out`,
  );
  for (const same of ['harborgoods', 'HarborGoods'])
    expect((await errand(workspace, [...get, same])).code).toBe(0);
  const offers = await errand(workspace, ['product', 'offers', first.url, '--retailer', 'voltcorner']);
  expect(offers.code).toBe(2);
});

test('a batch where a plan is asked for is answered with the command that shows a batch', async () => {
  open('errand bulk show @1');
  expect(await terminal.ended()).toBe(2);
  expect(terminal.text).toContain('@1 is not a file; name the plan file that `bulk plan` wrote');
  expect(terminal.text).toContain('try: errand bulk get @1\n  if you mean a batch');
});

test.each(['table', 'json'])(
  'a query that finds nothing says so with -o %s, and a pipe has nothing more',
  async (format) => {
    const line = `errand order list -o ${format} --query nosuch`;
    open(`${line}; echo; ${line} | cat`);
    expect(await terminal.ended()).toBe(0);
    expect(terminal.text.match(/--query found nothing/g)).toHaveLength(1);
    expect((await errand(workspace, line.split(' ').slice(1))).stderr).toBe('');
  },
);
