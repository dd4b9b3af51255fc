import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { errand, shell } from '../support/run.ts';
import { type Terminal, unfolded } from '../support/terminal.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';
import { useTerminals } from './terminals.ts';

let workspace: Workspace;
beforeEach(() => {
  workspace = makeWorkspace({ NO_COLOR: '1' });
});
afterEach(() => {
  workspace.remove();
});
const terminalOf = useTerminals(() => workspace);

const headings =
  'Item,Limit,Ship To,Street Address,Ship To City,Ship To State,Ship To Zip,Tel,Qty Ordered,note';
const rowOf = (limit: string, name = 'Ada Byron') =>
  `https://x.example/1,${limit},${name},1 Main St,Austin,TX,78701,5125550100,2,mine`;
const write = (...lines: string[]): void =>
  writeFileSync(join(workspace.folder, 'theirs.csv'), `${lines.join('\n')}\n`);

function open(args: readonly string[], columns = 100): Terminal {
  return terminalOf('errand', args, { columns });
}

/** Answers each question as it appears. */
async function answer(terminal: Terminal, steps: readonly (readonly [question: string, keys: string])[]) {
  let from = 0;
  for (const [question, keys] of steps) {
    await expect.poll(() => terminal.text.indexOf(question, from)).toBeGreaterThan(-1);
    from = terminal.text.indexOf(question, from);
    terminal.type(keys);
  }
}

const down = '\u001b[B';
const suggested = [
  ['? product_url:', '\r'],
  ['? max_price:', '\r'],
  ['? name:', '\r'],
  ['? address_line1:', '\r'],
  ['? city:', '\r'],
  ['? state:', '\r'],
  ['? postal_code:', '\r'],
  ['? phone_number:', '\r'],
  ['? quantity:', '\r'],
] as const;
const saveAs = 'Save these columns as a map';
const configOf = () => JSON.parse(readFileSync(join(workspace.folder, '.config', 'config.json'), 'utf8'));

describe('a file whose headings are not known, on a terminal', () => {
  test('is mapped by questions, with what looks likely preselected; the map is saved and used', async () => {
    write(headings, rowOf('$45.00'), rowOf('$60.00', 'Grace Hopper'));
    const terminal = open(['bulk', 'validate', 'theirs.csv', '--local']);
    await answer(terminal, [...suggested, [saveAs, 'no name\r'], ['a name has letters', 'theirs\r']]);
    expect(await terminal.ended()).toBe(0);
    const text = unfolded(terminal.text);
    expect(text).toContain('theirs.csv has no column for product_url, max_price, address_line1, city');
    expect(text).toContain("--map Item=product_url --map Limit=max_price --map 'Ship To=name'");
    expect(text).toContain(
      "--map 'Ship To Zip=postal_code' --map Tel=phone_number --map 'Qty Ordered=quantity'",
    );
    expect(text).toContain('saved; for the next file of this kind: --use-map theirs');
    expect(text).toContain('2 rows, all valid');
    const again = await errand(workspace, [
      'bulk',
      'validate',
      'theirs.csv',
      '--local',
      '--use-map',
      'theirs',
    ]);
    expect(again).toMatchObject({ code: 0 });
    expect(again.stderr).toContain('at most $105.00');
  });

  test('asks what bare whole numbers are; cents goes into the map', async () => {
    write(headings, rowOf('4500'), rowOf('6000'));
    const terminal = open(['bulk', 'plan', 'theirs.csv', '--out', 'a.plan', '--no-prices']);
    await answer(terminal, [...suggested, ['max_price 4500 in row 2 means', '\r'], [saveAs, 'theirs\r']]);
    await terminal.ended();
    const text = unfolded(terminal.text);
    expect(text).toContain('$45.00 (cents), all rows $105.00');
    expect(text).toContain('$4,500.00 (units), all rows $10,500.00');
    expect(text).toContain('--map Limit=max_price_cents');
    expect(text).toContain('`errand config set amounts cents` settles this for every file');
    expect(configOf().preferences.amounts).toBeUndefined();
    const plan = JSON.parse(readFileSync(join(workspace.folder, 'a.plan'), 'utf8'));
    expect(plan.made_from).toMatchObject({ map: { Limit: 'max_price_cents' }, amounts: null });
    expect(plan.ceilings_cents).toBe(10_500);
  });

  test('what is said not to be a column stays a column of its own', async () => {
    write(headings, rowOf('$45.00'));
    const terminal = open(['bulk', 'validate', 'theirs.csv', '--local']);
    const none = ['? quantity:', `${down}${down}\r`] as const;
    await answer(terminal, [...suggested.slice(0, -1), none, [saveAs, 'theirs\r']]);
    expect(await terminal.ended()).toBe(0);
    expect(unfolded(terminal.text)).toContain("--map Tel=phone_number --own 'Qty Ordered'");
    expect(configOf().maps.theirs).toMatchObject({ 'Qty Ordered': 'Qty Ordered' });
    expect(
      await errand(workspace, ['bulk', 'validate', 'theirs.csv', '--local', '--use-map', 'theirs']),
    ).toMatchObject({
      code: 0,
    });
  });

  test('dollars stay a flag', async () => {
    write(
      'product_url,max_price,name,address,city,zip,phone',
      'https://x.example/1,45,Ada Byron,1 Main St,Austin,78701,5125550100',
    );
    const terminal = open(['bulk', 'validate', 'theirs.csv', '--local']);
    await answer(terminal, [['max_price 45 in row 2 means', `${down}\r`]]);
    expect(await terminal.ended()).toBe(0);
    expect(terminal.text).toContain('errand bulk validate theirs.csv --local --amounts units');
    expect(terminal.text).toContain('at most $45.00');
    expect(terminal.text).not.toContain(saveAs);
  });

  test('that looks like an export of a shop is read so', async () => {
    write(
      'Name,Lineitem quantity,Shipping Name,Shipping Address1,Shipping City,Shipping Zip,Shipping Province,Shipping Phone,Supplier,Ceiling',
      "#1001,1,Ada Byron,1 Main St,Lakewood,'08701,NJ,5125550100,https://x.example/1,$45.00",
    );
    const terminal = open(['bulk', 'validate', 'theirs.csv', '--local'], 80);
    await answer(terminal, [
      ['It looks like orders exported from Shopify', '\r'],
      ['? product_url:', '\r'],
      ['? max_price:', '\r'],
      [saveAs, 'shop\r'],
    ]);
    expect(await terminal.ended()).toBe(0);
    expect(unfolded(terminal.text).replaceAll('\n', ' ')).toContain(
      '--use-map shopify --map Supplier=product_url',
    );
    expect(configOf()).toMatchObject({
      maps: { shop: { Supplier: 'product_url', Ceiling: 'max_price' } },
      map_presets: { shop: 'shopify' },
    });
  });

  test('that looks like an export of a shop has references once the shop has a name', async () => {
    write(
      'Name,Lineitem name,Lineitem quantity,Shipping Name,Shipping Address1,Shipping City,Shipping Zip,Shipping Province,Shipping Phone,product_url,max_price',
      "#1001,Coffee,1,Ada Byron,1 Main St,Lakewood,'08701,NJ,5125550100,https://x.example/1,$45.00",
    );
    const check = ['bulk', 'validate', 'theirs.csv', '--local', '--use-map', 'shopify'];
    const terminal = open([...check, '--save-map', 'shop']);
    await answer(terminal, [
      ['"Name" and "Lineitem name" can name', 'my shop\r'],
      ['takes letters, digits', '\u0015my-shop\r'],
    ]);
    expect(await terminal.ended()).toBe(0);
    const text = unfolded(terminal.text);
    expect(text).toContain('--namespace my-shop');
    expect(text).toContain('row 2 is my-shop:#1001/Coffee');
    expect(configOf().map_references).toEqual({ shop: { columns: [], namespace: 'my-shop' } });
    const again = open(['bulk', 'validate', 'theirs.csv', '--local', '--use-map', 'shop']);
    expect(await again.ended()).toBe(0);
    expect(unfolded(again.text)).toContain('row 2 is my-shop:#1001/Coffee');
    const none = open(check);
    await answer(none, [['"Name" and "Lineitem name" can name', '\r']]);
    expect(await none.ended()).toBe(0);
    expect(unfolded(none.text)).not.toContain('row 2 is');
  });

  test.each([
    ['\r', '--map Item=product_url --reference-column Ref', 'row 2 is R-1'],
    [`${down}\r`, '--map Item=product_url --own Ref', '1 row, all valid'],
  ])('asks whether a column that is called so is the reference: %j', async (keys, flags, line) => {
    write(
      'Item,max_price,name,address,city,zip,phone,Ref',
      'https://x.example/1,$45.00,Ada Byron,1 Main St,Austin,78701,5125550100,R-1',
    );
    const terminal = open(['bulk', 'validate', 'theirs.csv', '--local'], 120);
    await answer(terminal, [
      ['? product_url:', '\r'],
      ['Does "Ref" name each row for good?', keys],
      [saveAs, '\r'],
    ]);
    expect(await terminal.ended()).toBe(0);
    const text = unfolded(terminal.text);
    expect(text).toContain(`next time: errand bulk validate theirs.csv --local ${flags}`);
    expect(text).toContain(line);
  });

  test('--save-map saves what was asked for, and is refused where nothing was', async () => {
    write(headings, rowOf('$45.00'));
    const check = ['bulk', 'validate', 'theirs.csv', '--local', '--save-map', 'theirs'];
    const terminal = open(check);
    await answer(terminal, suggested);
    expect(await terminal.ended()).toBe(0);
    expect(terminal.text).not.toContain(saveAs);
    expect(configOf().maps.theirs).toMatchObject({ Item: 'product_url', Limit: 'max_price' });
    write('product_url,max_price,name,address,city,zip,phone', rowOf('$45.00'));
    const nothing = open(check);
    expect(await nothing.ended()).toBe(2);
    expect(nothing.text).toContain('--save-map has nothing to save');
    expect(await shell(workspace, `errand ${check.join(' ')}`)).toMatchObject({ code: 2 });
  });

  test('is refused where it has no such column, and nothing is saved', async () => {
    write(headings.replace('Item', 'Thing'), rowOf('$45.00').replace('https://x.example/1', 'mug'));
    const terminal = open(['bulk', 'upload', 'theirs.csv']);
    await answer(terminal, [
      ['? product_url:', '\r'],
      ['cannot be read without product_url', `${down}\r`],
    ]);
    expect(await terminal.ended()).toBe(2);
    expect(unfolded(terminal.text)).toContain(
      'error: the headings of theirs.csv: no column for product_url, max_price',
    );
    expect(terminal.text).not.toContain(saveAs);
  });

  test('an Enter too many ends nothing, and an end tells what was chosen', async () => {
    write(headings.replace('Limit', 'Amt'), rowOf('$45.00'));
    const terminal = open(['bulk', 'validate', 'theirs.csv', '--local'], 80);
    await answer(terminal, [
      ['? product_url:', '\r'],
      ['? max_price:', '\r'],
      ['cannot be read without max_price', '\r'],
      ['? max_price:', '\r'],
    ]);
    expect(await terminal.ended()).toBe(2);
    const text = unfolded(terminal.text).replaceAll('\n', ' ');
    expect(text).toContain(
      'what you chose so far: errand bulk validate theirs.csv --local --map Item=product_url',
    );
    expect(terminal.text).not.toContain(saveAs);
  });

  test.each([
    ['Ctrl-C', '\u0003'],
    ['Ctrl-D', '\u0004'],
  ])('%s ends it, and nothing is sent or saved', async (_, key) => {
    write(headings, rowOf('$45.00'));
    const terminal = open(['bulk', 'upload', 'theirs.csv'], 50);
    await answer(terminal, [
      ['? product_url:', '\r'],
      ['? max_price:', key],
    ]);
    expect(await terminal.ended()).toBe(130);
    expect(terminal.text).toContain('nothing was sent');
    expect((await errand(workspace, ['bulk', 'list', '-o', 'id'])).stdout).toBe('');
  });

  test('shows hostile headings and cells without what they do to a terminal', async () => {
    write(
      headings.replace('note', '\u001b]0;owned\u0007note\u001b[2J'),
      rowOf('$45.00', '\u001b[31mAda\u202e Byron'),
    );
    const terminal = open(['bulk', 'upload', 'theirs.csv'], 80);
    await answer(terminal, [['? product_url:', '\u0003']]);
    await terminal.ended();
    expect(terminal.raw).not.toContain('\u001b]0;owned');
    expect(terminal.raw).not.toContain('\u001b[2J');
    expect(terminal.raw).not.toContain('\u001b[31mAda');
    expect(terminal.raw).not.toContain('\u202e');
  });
});

describe('nobody is asked', () => {
  const refused = 'no column for product_url, max_price';
  test.each([
    [['--no-input'], {}],
    [[], { CI: 'true' }],
    [[], { ERRAND_NO_INPUT: '1' }],
  ])('on a terminal with %j %j', async (flags, environment) => {
    Object.assign(workspace.environment, environment);
    write(headings, rowOf('45'));
    const terminal = open(['bulk', 'upload', 'theirs.csv', ...flags]);
    expect(await terminal.ended()).toBe(2);
    expect(unfolded(terminal.text)).toContain(refused);
    expect(terminal.text).not.toContain('? product_url');
  });

  test('in a pipe, or of a file that comes through one', async () => {
    write(headings, rowOf('45'));
    for (const line of ['errand bulk validate theirs.csv', 'cat theirs.csv | errand bulk validate -']) {
      const ended = await shell(workspace, line);
      expect(ended).toMatchObject({ code: 2, stdout: '' });
      expect(ended.stderr).toContain(refused);
    }
    const terminal = terminalOf('bash', ['-c', 'cat theirs.csv | errand bulk validate -']);
    expect(await terminal.ended()).toBe(2);
    expect(unfolded(terminal.text)).toContain(refused);
  });
});
