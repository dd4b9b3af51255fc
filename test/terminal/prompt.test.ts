import { afterEach, beforeEach, expect, test } from 'vitest';
import { errand } from '../support/run.ts';
import { Terminal } from '../support/terminal.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';

let workspace: Workspace;
let terminal: Terminal;

beforeEach(() => {
  workspace = makeWorkspace();
});
afterEach(() => {
  terminal.close();
  workspace.remove();
});

test.each([
  ['a line of text', ['address', 'add', 'home'], 'First name'],
  ['a secret', ['auth', 'token'], 'API key'],
  ['yes or no', ['sandbox', 'reset'], '(y/N)'],
  ['one of several', ['agent', 'search', 'coffee', '--pay-command', 'cat'], 'Pay by'],
])(
  'Ctrl-D in place of %s is no answer: it ends as Ctrl-C does, never as if all were done',
  async (_, args, shown) => {
    terminal = new Terminal(workspace, 'errand', args);
    await terminal.shows(shown);
    terminal.type('\u0004');
    expect(await terminal.ended()).toBe(130);
    expect(terminal.text).toContain('interrupted; nothing was sent');
  },
);

const enter = '\r';
const clear = '\u0015';

/** Answers each question as it appears. */
async function answer(
  ...turns: readonly (readonly [asked: string | RegExp, answer: string])[]
): Promise<void> {
  for (const [asked, typed] of turns) {
    await terminal.shows(asked);
    terminal.type(typed + enter);
  }
}

test('an address is checked answer by answer, so that a wrong one loses none of those before it', async () => {
  terminal = new Terminal(workspace, 'errand', [
    'address',
    'add',
    'work',
    '--first-name',
    'Ada',
    '--city',
    'Austin',
  ]);
  await answer(
    ['Last name', 'Example'],
    ['Street and number', '1 Main St'],
    ['Flat, floor', ''],
    ['Country', 'USA'],
    ['use US in place of USA', `${clear}us`],
    ['Postal code', 'abc'],
    ['a US postal code has 5 digits', `${clear}78701`],
    ['Phone number', '5125550100'],
  );
  expect(await terminal.ended()).toBe(0);
  expect(terminal.text).toMatch(/postal code +78701/);
  expect(terminal.text).not.toContain('First name');
});

test('order create asks for the rest of an address that is given in part', async () => {
  const args = ['order', 'create', '--product', 'https://shop.example/p', '--max-price', '$50'];
  terminal = new Terminal(workspace, 'errand', [...args, '--first-name', 'Ada', '--last-name', 'Byron']);
  await answer(
    ['Street and number', '1 Main St'],
    ['Flat, floor', ''],
    ['City', 'Berlin'],
    ['State or province', ''],
    ['Country', 'DE'],
    ['Postal code', '1'],
    ['not a German postal code, which has 5 digits', `${clear}10115`],
    ['Phone number', '030123456'],
    ['Save this address as (a name; Enter: not saved)', 'berlin'],
    ['Place this order?', 'y'],
  );
  expect(await terminal.ended()).toBe(0);
  expect(terminal.text).toContain('Ada Byron, 1 Main St, Berlin 10115 DE');
  expect(terminal.text).toContain('saved as berlin: --ship-to berlin uses it');
});

const nearlyWhole = [
  ...['--first-name', 'Ada', '--last-name', 'Byron', '--address-line1', '1 Main St', '--city', 'Austin'],
  ...['--postal-code', '78701', '--country', 'US'],
];

test('of an address that is given but for its phone number, that alone is asked for', async () => {
  const args = ['order', 'create', '--product', 'https://shop.example/p', '--max-price', '$50'];
  terminal = new Terminal(workspace, 'errand', [...args, ...nearlyWhole]);
  await answer(['Phone number', '5125550100'], ['Save this address as', ''], ['Place this order?', 'y']);
  expect(await terminal.ended()).toBe(0);
  expect(terminal.text).not.toMatch(/Flat, floor|State or province|saved as/);
});

test('yes to saving an address is not its name, and no saves nothing', async () => {
  const args = ['order', 'create', '--product', 'https://shop.example/p', '--max-price', '$50'];
  const named = async (): Promise<string> =>
    (await errand(workspace, ['address', 'list', '-o', 'id'])).stdout;
  terminal = new Terminal(workspace, 'errand', [...args, ...nearlyWhole]);
  await answer(['Phone number', '5125550100'], ['Save this address as', 'n'], ['Place this order?', 'y']);
  expect(await terminal.ended()).toBe(0);
  expect(await named()).toBe('home\n');
  await errand(workspace, ['address', 'remove', 'home']);
  terminal = new Terminal(workspace, 'errand', [...args, ...nearlyWhole, '--new']);
  await answer(
    ['Phone number', '5125550100'],
    ['Save this address as', 'Yes'],
    ['type a name for it, such as home', 'first'],
    ['Place this order?', 'y'],
  );
  expect(await terminal.ended()).toBe(0);
  expect(terminal.text).toContain('saved as first, the default: orders without --ship-to go there');
  terminal = new Terminal(workspace, 'errand', [...args, ...nearlyWhole, '--new']);
  await answer(
    ['Phone number', '5125550100'],
    ['Save this address as', 'second'],
    ['Place this order?', 'y'],
  );
  expect(await terminal.ended()).toBe(0);
  expect(terminal.text).toContain('saved as second: --ship-to second uses it');
  expect(await named()).toMatch(/^first\nsecond$/m);
});

test('an address field that is wrong as it was given is refused before anything is asked', async () => {
  terminal = new Terminal(workspace, 'errand', ['address', 'add', 'work', '--country', 'USA']);
  expect(await terminal.ended()).toBe(2);
  expect(terminal.text).toContain('error: --country: country takes a two-letter code');
  expect(terminal.text).not.toContain('First name');
});

test('a country that does not go with the postal code given is asked for again', async () => {
  const given = [
    '--first-name',
    'Ada',
    '--last-name',
    'Byron',
    '--address-line1',
    '1 Main St',
    '--city',
    'Wien',
  ];
  terminal = new Terminal(workspace, 'errand', ['address', 'add', 'work', ...given, '--postal-code', '1011']);
  await answer(
    ['Country', 'US'],
    ['a US postal code has 5 digits', `${clear}AT`],
    ['Phone number', '015123456'],
  );
  expect(await terminal.ended()).toBe(0);
});

test('a product that no shop can have is refused as it is answered', async () => {
  terminal = new Terminal(workspace, 'errand', ['order', 'create', '--dry-run']);
  await answer(
    ['What to order', 'shop.example/p'],
    ['write the whole URL: https://shop.example/p', `${clear}shttps://shop.example/p`],
    ['holds 2 URLs', `${clear}https://shop.example/p`],
    ['Price ceiling', '5000'],
  );
  await terminal.shows('is 5000 dollars or cents? Type $5,000.00 or $50.00');
});

test('a state and a phone number that nobody could deliver to are asked for again', async () => {
  terminal = new Terminal(workspace, 'errand', [
    'address',
    'add',
    'work',
    '--first-name',
    'A',
    '--last-name',
    'B',
  ]);
  await answer(
    ['Street and number', '1 Main St'],
    ['Flat, floor', ''],
    ['City', 'Austin'],
    ['State or province', 'Bavaria'],
    ['Country', 'US'],
    ['is not a US state', `${clear}DE`],
    ['Postal code', '80331'],
    ['Phone number', 'call me'],
    ['is not a phone number', `${clear}030 123456`],
  );
  expect(await terminal.ended()).toBe(0);
});

test('an address is replaced where a person agrees, and only then', async () => {
  const given = [
    '--first-name',
    'Ada',
    '--last-name',
    'Byron',
    '--address-line1',
    '1 Main St',
    '--city',
    'Austin',
  ];
  const more = ['--postal-code', '78701', '--country', 'US', '--phone-number', '5125550100', '--state', 'TX'];
  const args = ['address', 'add', 'work', ...given, ...more, '--address-line2', 'Flat 1'];
  terminal = new Terminal(workspace, 'errand', args);
  expect(await terminal.ended()).toBe(0);
  for (const [typed, code] of [
    ['\r', 2],
    ['y\r', 0],
  ] as const) {
    terminal = new Terminal(workspace, 'errand', args);
    await terminal.shows('Replace work (Ada Byron, 1 Main St)? (y/N)');
    terminal.type(typed);
    expect(await terminal.ended()).toBe(code);
  }
});

test('a pasted address is taken apart, and what it lacks is asked', async () => {
  terminal = new Terminal(workspace, 'errand', ['address', 'add', 'work']);
  await terminal.shows('First name (or paste a whole address)');
  terminal.type('Ada Byron\r1 Main St\rAustin, TX 78701\r');
  await terminal.shows('taken apart: Ada Byron, 1 Main St, Austin TX 78701 US');
  await answer(['Phone number', '5125550100']);
  expect(await terminal.ended()).toBe(0);
  expect(terminal.text).not.toContain('Flat, floor');
});
