import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { errand, orderOf } from '../support/run.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';
import { Shell } from './shell.ts';

const clockSet = fileURLToPath(new URL('../support/clock-set.cjs', import.meta.url));

describe('what a person at a terminal gives for an id', () => {
  let workspace: Workspace;
  let shells: Shell[];
  /** Newest first, as in `order list`. */
  let ids: string[];

  beforeAll(async () => {
    workspace = makeWorkspace();
    ids = [];
    // They stay pending for a minute, so an accidental cancellation would show.
    for (let order = 0; order < 3; order += 1) ids.unshift(await orderOf(workspace, 'test-slow'));
  });

  beforeEach(() => {
    shells = [];
  });

  afterEach(() => {
    for (const shell of shells) shell.close();
    rmSync(join(workspace.folder, '.state', 'lists'), { recursive: true, force: true });
  });

  afterAll(() => workspace.remove());

  function open(size: { columns?: number } = {}): Shell {
    const shell = new Shell(workspace, size);
    shells.push(shell);
    return shell;
  }

  const id = (number: number): string => ids[number - 1] ?? '';
  const short = (number: number): string => id(number).slice(0, 8);
  const listFile = (): string => {
    const folder = join(workspace.folder, '.state', 'lists');
    return join(folder, readdirSync(folder)[0] ?? '');
  };
  const statuses = async (): Promise<string> =>
    (await errand(workspace, ['order', 'list', '-o', 'csv', '--fields', 'id,status'])).stdout;

  test('rows are numbered and ids shortened on a terminal; a number and a short id are taken back', async () => {
    const shell = open();
    const list = await shell.run('errand order list');
    expect(list.text).toMatch(/^@ {2}ID/);
    for (const number of [1, 2, 3]) expect(list.text).toContain(`\n${number}  ${short(number)}  `);
    expect((await shell.run('errand order get @2 -o json --query id')).text).toBe(`"${id(2)}"`);
    expect((await shell.run(`errand order get ${short(3)} -o json --query id`)).text).toBe(`"${id(3)}"`);
    expect((await shell.run('errand order get @1 @3 -o id')).text.split('\n')).toEqual([id(1), id(3)]);
    expect((await shell.run(`errand order get --fields id ${short(1).toUpperCase()}`)).said).toContain(id(1));
    expect((await shell.run('errand order list --fields id,status')).said).toContain(id(1));
  });

  test('in a pipe nothing is numbered or shortened, and neither is taken', async () => {
    const listed = await errand(workspace, ['order', 'list']);
    expect(listed.stdout).toMatch(/^ID {2,}STATUS/);
    expect(listed.stdout).toContain(id(1));
    const numbered = await errand(workspace, ['order', 'get', '@1']);
    expect(numbered).toMatchObject({ code: 2, stdout: '' });
    expect(numbered.stderr).toContain('@1 names a row of the last list on a terminal');
    expect(numbered.stderr).toContain('stdin is not a terminal');
    const begun = await errand(workspace, ['order', 'get', short(1)]);
    expect(begun).toMatchObject({ code: 2, stdout: '' });
    expect(begun.stderr).toContain(`order id "${short(1)}" is not a UUID`);
  });

  test('a script on a terminal, and one with CI set, gives whole ids', async () => {
    const shell = open();
    await shell.run('errand order list');
    for (const line of [
      'errand order cancel @1 --no-input',
      'CI=1 errand order cancel @1',
      'errand order cancel @1 < /dev/null',
      `errand order cancel ${short(1)} < /dev/null`,
    ])
      expect((await shell.run(line)).code).toBe(2);
    expect(await statuses()).not.toContain('cancelled');
  });

  test('stdin gives whole ids beside a row of the terminal', async () => {
    const shell = open();
    await shell.run('errand order list');
    const both = await shell.run(`echo ${id(3)} | errand order get @1 - -o id`);
    expect(both.text.split('\n')).toEqual([id(1), id(3)]);
    const refused = await shell.run('echo @2 | errand order get - -o id');
    expect(refused).toMatchObject({ code: 2 });
    expect(refused.said).toContain('order id "@2" (stdin, line 1) is not a UUID');
  });

  test('each terminal has a list of its own', async () => {
    const [one, two] = [open(), open()];
    await one.run('errand order list');
    const none = await two.run('errand order cancel @1');
    expect(none.code).toBe(2);
    expect(none.said).toContain(
      '@1 names nothing: this terminal has printed no list yet; `errand order list` prints one',
    );
    await Promise.all([one.run('errand order list --limit 2'), two.run('errand order list --offset 2')]);
    expect((await one.run('errand order get @1 -o id')).text).toBe(id(1));
    expect((await two.run('errand order get @1 -o id')).text).toBe(id(3));
  });

  test('a row of another kind is refused, and so is one that is not there', async () => {
    const shell = open();
    await shell.run('errand search coffee --limit 2');
    const other = await shell.run('errand order cancel @1');
    expect(other.code).toBe(2);
    expect(other.said).toContain(
      '@1 is a row of the last list, which is of products, not of orders; `errand order list` prints those',
    );
    expect((await shell.run('errand order get @99')).said).toContain(
      '@99: the last list has 2 rows; it is of products, not of orders; `errand order list` prints those',
    );
    await shell.run('errand order list');
    expect((await shell.run('errand order get @4')).said).toContain('@4: the last list has 3 rows');
    for (const wrong of ['@0', '@x', '@', '@-1', '@1x', '@1,quantity=2'])
      expect((await shell.run(`errand order get ${wrong}`)).said).toContain(
        `"${wrong}" is not the number of a row`,
      );
    await shell.run('errand search coffee --limit 2');
    expect((await shell.run("errand order create --product @1,@2 --max-price '$90'")).said).toContain(
      '"@1,@2" is not the number of a row',
    );
    await shell.run('errand return list');
    expect((await shell.run('errand return get @1')).said).toContain('the last list is empty');
  });

  test('a list is over after an hour, and of no use with another profile or service', async () => {
    const shell = open();
    await shell.run('errand order list');
    const later = `NODE_OPTIONS=--require=${clockSet} CLOCK_SET_AFTER_MS=0 CLOCK_SET_MS`;
    expect((await shell.run(`${later}=${59 * 60_000} errand order get @1 -o id`)).said).toContain(id(1));
    const over = await shell.run(`${later}=${61 * 60_000} errand order cancel @1`);
    expect(over.code).toBe(2);
    expect(over.said).toContain('the last list of this terminal is more than an hour old');
    await errand(workspace, ['profile', 'set', 'work', '--base-url', 'https://service.example']);
    const profile = await shell.run('errand order cancel @1 --profile work');
    expect(profile.code).toBe(2);
    expect(profile.said).toContain('the last list of this terminal is of profile local');
    const service = await shell.run('errand order cancel @1 --base-url https://service.example');
    expect(service.said).toContain('the last list of this terminal is of embedded:');
    expect(await statuses()).not.toContain('cancelled');
  });

  test('a beginning is looked up on this machine and at the service; of several none is guessed', async () => {
    const shell = open();
    expect((await shell.run(`errand order get ${short(2)} -o id`)).text).toBe(id(2));
    expect((await shell.run(`errand track ${short(2)} -o id`)).text).toBe(id(2));
    expect(await shell.run('errand order get 00000000')).toMatchObject({
      code: 4,
      text: expect.stringContaining('no order here or at the service begins with 00000000'),
    });
    expect((await shell.run('errand track 00000000')).said).toContain('no order that this machine knows');
    expect((await shell.run(`errand order get ${short(1).slice(0, 7)}`)).said).toContain('is too short');
    await shell.run('errand order list');
    const file = listFile();
    const list = JSON.parse(readFileSync(file, 'utf8'));
    const twin = `${short(1)}-ffff-4fff-8fff-ffffffffffff`;
    writeFileSync(file, JSON.stringify({ ...list, rows: [...list.rows, { ...list.rows[0], id: twin }] }));
    const several = await shell.run(`errand order cancel ${short(1)}`);
    expect(several.code).toBe(2);
    expect(several.said).toContain(
      `${short(1)} is the beginning of 2 orders: ${id(1)}, ${twin}; give more of it`,
    );
    expect(await statuses()).not.toContain('cancelled');
  });

  test('rows of one retailer keep their product ids and their retailer', async () => {
    const shell = open();
    await shell.run('errand product search tea --retailer harborgoods --limit 2');
    const [, second] = JSON.parse(
      (await errand(workspace, 'product search tea --retailer harborgoods -o json'.split(' '))).stdout,
    );
    expect((await shell.run('errand product get @2 -o json --query product_id')).text).toBe(
      `"${second.product_id}"`,
    );
    const shown = await shell.run('errand search coffee --limit 1 -o json');
    const [listing] = JSON.parse(shown.text);
    expect((await shell.run(`errand product get ${listing.id} -o json --query url`)).text).toBe(
      `"${listing.url}"`,
    );
  });

  test('the rows of every other list are named in the same way', async () => {
    const shell = open({ columns: 200 });
    const csv =
      'product_url,quantity,max_price,name,address1,city,state,zip,country,phone\n' +
      'http://127.0.0.1:4848/shop/test-success,1,$50.00,Ada B,1 Main St,Austin,TX,78701,US,5125550100\n';
    writeFileSync(join(workspace.folder, 'rows.csv'), csv);
    writeFileSync(join(workspace.folder, 'secret.txt'), 'secret');
    await shell.run('errand account add --email ada@example.com --password-file secret.txt');
    await shell.run('errand bulk upload rows.csv');
    for (const [list, first, use] of [
      ['account list', 'errand account list -o id', 'account forwarding @1 -o id'],
      ['bulk list', 'errand bulk list -o id', 'bulk get @1 -o id'],
      [
        'order journal list --all',
        'errand order journal list --all -o id | head -1',
        'order explain @1 -o json',
      ],
    ] as const) {
      expect((await shell.run(`errand ${list}`)).text).toMatch(/^ *@ {2}/);
      const id = (await shell.run(`${first} | cat`)).text;
      const used = await shell.run(`errand ${use}`);
      expect(used).toMatchObject({ code: 0, text: expect.stringContaining(id) });
    }
    await shell.run('errand bulk list');
    expect((await shell.run('errand bulk results @1')).said).toContain('order_status');
    await shell.run('errand account list');
    const removed = await shell.run('errand account remove @1');
    expect(removed.said).toMatch(/^@1 is account \S+_acct_\w+ \(when listed: ada@example.com, any/);
    expect((await shell.run('errand account remove @1')).code).toBe(4);
  });

  test('what stands in the file of a list can be nothing but an id', async () => {
    const shell = open();
    await shell.run('errand order list');
    const file = listFile();
    const list = JSON.parse(readFileSync(file, 'utf8'));
    const withId = (wrong: string): void =>
      writeFileSync(file, JSON.stringify({ ...list, rows: [{ ...list.rows[0], id: wrong }] }));
    for (const wrong of ['-', '--yes', '@1', '../x', '', 'a b', '\u001b[2J', 'x'.repeat(300)]) {
      withId(wrong);
      const refused = await shell.run('errand order cancel @1 < /dev/tty');
      expect(refused.code).toBe(2);
      expect(refused.said).toContain('@1 has no id or URL that can be taken');
    }
    const products = (url: string): void =>
      writeFileSync(
        file,
        JSON.stringify({ ...list, kind: 'products', rows: [{ id: 'x', label: '', facts: { url } }] }),
      );
    for (const wrong of [
      'https://shop.example/a,quantity=50',
      'https://shop.example/a;condition=New',
      'javascript:alert(1)',
      'file:///etc/passwd',
      '--file=/etc/passwd',
      'https://shop.example/a b',
    ]) {
      products(wrong);
      const refused = await shell.run("errand order create --product @1 --max-price '$9' --ship-to home");
      expect(refused.code).toBe(2);
      expect(refused.said).toContain('@1 has no id or URL that can be taken');
    }
    for (const junk of ['', '{', '[]', 'null']) {
      writeFileSync(file, junk);
      expect((await shell.run('errand order cancel @1')).said).toContain('has printed no list yet');
    }
    expect(await statuses()).not.toContain('cancelled');
  });

  test('a list that cannot be kept is printed all the same', async () => {
    const shell = open();
    const folder = join(workspace.folder, '.state', 'lists');
    rmSync(folder, { recursive: true, force: true });
    writeFileSync(folder, '');
    const list = await shell.run('errand order list');
    expect(list.code).toBe(0);
    expect(list.said).toContain(short(1));
    expect(list.text).not.toContain('error');
    expect((await shell.run('errand order get @1')).said).toContain('has printed no list yet');
    rmSync(folder);
  });

  test('what acts on rows leaves their numbers as they are', async () => {
    const shell = open();
    await shell.run('errand order list');
    expect((await shell.run('errand order get @3 @2')).text).not.toMatch(/^@|\n1 /);
    await shell.run('errand order timeline @1');
    const [, second] = (await errand(workspace, ['order', 'list', '-o', 'id'])).stdout.split('\n');
    expect((await shell.run('errand order get @2 -o id')).text).toBe(second);
  });

  test('a command that writes tells what it names, whole, and what it was; reading says nothing of it', async () => {
    const shell = open({ columns: 120 });
    const [older, newer] = [await orderOf(workspace, 'test-slow'), await orderOf(workspace, 'test-slow')];
    await shell.run('errand order list');
    const cancelled = await shell.run('errand order cancel @2');
    expect(cancelled.said).toContain(`@2 is order ${older} (when listed: waiting, http://127.0.0.1`);
    expect(cancelled.code).toBe(0);
    const begun = await shell.run(`errand order cancel ${newer.slice(0, 8)}`);
    expect(begun.said).toContain(`${newer.slice(0, 8)} is order ${newer} (`);
    expect(begun.code).toBe(0);
    expect((await shell.run('errand order get @1')).text).not.toContain('@1 is');
    // A product is shown by the title this terminal has seen.
    const third = await orderOf(workspace, 'test-slow');
    await shell.run('errand sandbox products');
    const titled = await shell.run(`errand order cancel ${third.slice(0, 8)}`);
    expect(titled.said).toContain(`${third.slice(0, 8)} is order ${third} (`);
    expect(titled.said).toContain('Slow start');
    expect(titled.said).not.toContain('/test-slow');
    const after = await statuses();
    for (const one of [older, newer]) expect(after).toContain(`${one},cancelled`);
    for (const one of ids) expect(after).not.toContain(`${one},cancelled`);
  });

  test('hostile words of a row reach the terminal as text', async () => {
    const shell = open();
    await orderOf(workspace, 'test-slow');
    await shell.run('errand order list');
    const file = listFile();
    const list = JSON.parse(readFileSync(file, 'utf8'));
    const row = { ...list.rows[0], label: '\u001b]0;owned\u0007\u202efree' };
    writeFileSync(file, JSON.stringify({ ...list, rows: [row] }));
    const told = await shell.run('errand order cancel @1');
    expect(told.code).toBe(0);
    expect(told.said).toContain('owned');
    expect(told.text).not.toMatch(/[\u0007\u202e]/);
  });

  test('a search leads to an order, its details and a check without a URL being typed', async () => {
    const shell = open({ columns: 200 });
    await shell.run('errand search coffee --limit 3');
    const [, second] = JSON.parse((await errand(workspace, ['search', 'coffee', '-o', 'json'])).stdout);
    const details = JSON.parse((await shell.run('errand product get @2 -o json')).text);
    expect(details.url).toBe(second.url);
    expect((await shell.run('errand product offers @2')).code).not.toBe(2);
    expect((await shell.run('errand retailer check @2 -o json --query url')).text).toBe(`"${second.url}"`);
    const line = "errand order create --product @2,quantity=2 --max-price '$90' --ship-to home -o json";
    const ordered = await shell.run(`${line} --query 'items[0].[url, quantity]'`);
    expect(ordered.said).toContain(`@2,quantity=2 is product ${second.url} (when listed: ${second.title}, $`);
    expect(ordered.said).toContain(second.retailer);
    expect(JSON.parse(/\[[\s\S]*\]/.exec(ordered.text)?.[0] ?? '')).toEqual([second.url, 2]);
    const unseen = await shell.run(`${line} --no-input`);
    expect(unseen.code).toBe(2);
    expect(unseen.said).toContain('@2,quantity=2 names a row of the last list on a terminal');
  });
});
