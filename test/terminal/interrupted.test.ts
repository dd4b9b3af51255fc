import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { embeddedShop, errand, shell } from '../support/run.ts';
import { Terminal } from '../support/terminal.ts';
import { isWhole } from '../support/whole.ts';
import { makeWorkspace, prefer, type Workspace } from '../support/workspace.ts';
import { moves } from './accessible.ts';
import { withVariants } from './variants.ts';

/** Every question of the program, ended by each way to end it. */

let workspace: Workspace;
/** Values that only the prepared workspace knows, by their names in the lines below. */
const made: Record<string, string> = {};

const json = async (...args: string[]) =>
  JSON.parse((await errand(workspace, [...args, '-o', 'json'])).stdout);

beforeAll(async () => {
  workspace = makeWorkspace({ EDITOR: 'echo the editor is open; exec sleep 600 #' });
  prefer(workspace, { 'sandbox-speed': 50 });
  const shop = await embeddedShop();
  const order = async (...urls: string[]): Promise<string> => {
    const flags = urls.map((url) => `--product ${url}`).join(' ');
    const line = `errand order create ${flags} --max-price '$200' --ship-to home --new -o id`;
    const id = (await shell(workspace, line)).stdout.trim();
    await errand(workspace, ['order', 'watch', id, '--until', 'placed']);
    return id;
  };
  Object.assign(made, {
    PRODUCT: `${shop}test-success`,
    THREE: await order(`${shop}test-success,quantity=3`),
    BOTH: await order(`${shop}test-success`, `${shop}test-pickup`),
    VARIANTS: (await withVariants(workspace)).url,
  });
  await shell(workspace, `errand address add cabin --first-name Ada ${restOfAddress}`);
  await errand(workspace, ['profile', 'set', 'work', '--base-url', 'https://service.example']);
  await errand(workspace, ['auth', 'token', '--profile', 'work'], { stdin: 'zz_test_0123456789abcdef' });
  writeFileSync(
    join(workspace.folder, 'theirs.csv'),
    'Item,Limit,Ship To,Street Address,Ship To City,Ship To State,Ship To Zip,Tel\nhttps://x.example/1,$45,Ada Byron,1 Main St,Austin,TX,78701,5125550100\n',
  );
  writeFileSync(
    join(workspace.folder, 'whole.csv'),
    'product_url,max_price,name,address,city,zip,phone\nhttps://x.example/1,45,Ada Byron,1 Main St,Austin,78701,5125550100\n',
  );
});
afterAll(() => workspace.remove());

const restOfAddress =
  '--last-name Byron --address-line1 Elm --city Austin --state TX --postal-code 78701 --country US --phone-number 5125550100';

/** A question, the line that leads to it, and the answers before it. A `1` is the second of a list, or its number. */
interface Question {
  readonly line: string;
  readonly before?: readonly (readonly [question: string, answer: string])[];
  readonly question: string;
  /** What is said to be undone. */
  readonly undone?: string;
  /** Reads no keys: a Ctrl-D means nothing to it. */
  readonly isWait?: boolean;
}

const pasted = 'Ada Byron\r1 Main St\rAustin, TX 78701';
const order = 'order create --product PRODUCT';
const ceiling = ['Price ceiling', '$190'] as const;
const toReview = [ceiling, ['Ship to', '1']] as const;
const toChange = [...toReview, ['Place this order?', 'e']] as const;
const change = (line: number) => [...toChange, ['What to change', String(line)]] as const;
const partOfAddress = `${order} --max-price $50 --first-name A --last-name B --address-line1 Elm --city Austin`;
const mapped = ['product_url', 'max_price', 'name', 'address_line1', 'city', 'state', 'postal_code'].map(
  (column) => [`${column}:`, ''] as const,
);
const account = 'account add --email ada@example.com --retailer stallandbarrow';

const questions: readonly Question[] = [
  { line: 'order create', question: 'What to order' },
  { line: 'order create', before: [['What to order', 'tea']], question: 'Which one?' },
  {
    line: 'order create',
    before: [['What to order', 'nosuchthingatall']],
    question: 'What are you looking for?',
  },
  { line: 'search tea --pick', question: 'Which one?' },
  { line: 'order create --product VARIANTS', question: 'Which variant?' },
  { line: order, question: 'Price ceiling' },
  { line: order, before: [ceiling], question: 'Ship to' },
  { line: order, before: toReview, question: 'Place this order?' },
  { line: order, before: toChange, question: 'What to change' },
  { line: order, before: change(1), question: 'What to order' },
  { line: order, before: change(2), question: 'Quantity' },
  { line: order, before: change(3), question: 'Send it as a gift?' },
  { line: order, before: [...change(3), ['as a gift?', 'y']], question: 'Gift message' },
  { line: order, before: change(4), question: 'Ship to' },
  { line: order, before: change(5), question: 'Price ceiling' },
  {
    line: `${order} --product PRODUCT,quantity=2`,
    before: change(2),
    question: 'Of which line',
  },
  { line: `${partOfAddress} --postal-code 78701`, question: 'Country' },
  {
    line: `${partOfAddress} --postal-code 78701 --country US`,
    before: [['Phone number', '5125550100']],
    question: 'Save this address as',
  },
  {
    line: 'order create --product PRODUCT,quantity=3 --max-price $200 --ship-to home',
    question: 'Order another one?',
  },
  { line: 'return create', question: 'Order' },
  { line: 'return create --order BOTH', question: 'Items' },
  { line: 'return create --order THREE', question: 'How many of' },
  { line: 'return create --order THREE', before: [['How many of', '2']], question: 'Reason' },
  {
    line: 'return create --order THREE --reason damaged',
    before: [['How many of', '2']],
    question: 'Request this return?',
  },
  { line: 'address add new', question: 'First name' },
  { line: 'address add new', before: [['First name', pasted]], question: 'Phone number' },
  {
    line: `address add cabin --first-name Grace ${restOfAddress}`,
    question: 'Replace cabin',
  },
  { line: 'profile delete work', question: 'Delete the profile work' },
  { line: 'auth token', question: 'API key' },
  { line: 'auth token --legacy', question: 'Client token' },
  { line: 'account add', question: 'Email at the retailer' },
  { line: 'account add --email ada@example.com', question: 'Which retailer is it for?' },
  { line: account, question: 'Password' },
  { line: account, before: [['Password', 'correct']], question: 'Two-factor secret' },
  { line: `${account}x`, question: 'all the same?' },
  { line: 'sandbox reset', question: 'Delete the sandbox' },
  { line: 'bulk validate theirs.csv --local', question: 'product_url:' },
  { line: 'bulk validate theirs.csv --local', before: mapped.slice(0, 3), question: 'address_line1:' },
  { line: 'bulk validate theirs.csv --local', before: mapped, question: 'phone_number:' },
  {
    line: 'bulk upload theirs.csv',
    before: [...mapped, ['phone_number:', '']],
    question: 'Save these columns',
  },
  { line: 'bulk upload whole.csv', question: 'max_price 45 in row 2 means' },
  {
    line: 'auth login',
    question: 'Ctrl-C ends the wait',
    undone: 'no key was stored',
    isWait: true,
  },
  { line: 'config edit', question: 'the editor is open', undone: 'nothing was changed', isWait: true },
];

const ways = {
  'Ctrl-C': { key: '\u0003', code: 130, said: 'interrupted' },
  'Ctrl-D': { key: '\u0004', code: 130, said: 'interrupted' },
  SIGTERM: { key: undefined, code: 143, said: 'error: terminated' },
} as const;

/** Starts the program, writes down its process, and prints the settings of the terminal once it has ended. */
const around = `trap : INT
sh -c 'echo $$ > errand.pid; exec errand "$@"' sh "$@"; code=$?
stty -a; exit $code`;

/** What may not change: the stored settings, and what the service has. */
async function storedState(): Promise<unknown> {
  const lists = ['order list', 'return list', 'bulk list', 'account list'].map((list) => list.split(' '));
  const stored: unknown[] = [readFileSync(join(workspace.folder, '.config', 'config.json'), 'utf8')];
  // One after another: what runs beside another has a process of its own.
  for (const list of lists) stored.push(await json(...list));
  return stored;
}

async function end(
  { line, before = [], question, undone = 'nothing was sent', isWait = false }: Question,
  way: keyof typeof ways,
  isAccessible: boolean,
): Promise<void> {
  const { key, code, said } = ways[way];
  const args = line.split(' ').map((word) => word.replace(/[A-Z]{4,}/, (name) => made[name] ?? name));
  const environment = { ...workspace.environment, ...(isAccessible && { ACCESSIBLE: '1' }) };
  const stored = await storedState();
  const terminal = new Terminal({ ...workspace, environment }, 'sh', ['-c', around, 'sh', ...args]);
  try {
    let from = 0;
    const asked = async (text: string): Promise<void> => {
      await terminal.shows(text, from);
      // Where choices are numbered, the line for the number is below the question.
      if (isAccessible && !isWait) await terminal.shows(/[:?)] $/, from);
      from = terminal.text.length;
    };
    for (const [shown, answer] of before) {
      await asked(shown);
      terminal.type(`${answer}\r`);
    }
    await asked(question);
    if (key) terminal.type(key);
    else process.kill(Number(readFileSync(join(workspace.folder, 'errand.pid'), 'utf8')), 'SIGTERM');
    expect(await terminal.ended(), terminal.text).toBe(code);
    const { raw, text } = terminal;
    // A ^C that the terminal has echoed is erased where lines may be.
    const seen = raw.includes('^C\r\u001b[K') ? text.replace('^C', '') : text;
    const [shown = '', settings = ''] = seen.split(/(?=^speed )/m);
    expect(shown.trim().split('\n').at(-1)).toBe(`${said}; ${undone}`);
    expect(settings).toMatch(/(?<!-)\becho\b/);
    expect(settings).toMatch(/(?<!-)\bicanon\b/);
    expect(raw.lastIndexOf('\u001b[?25h')).toBeGreaterThanOrEqual(raw.lastIndexOf('\u001b[?25l'));
    if (isAccessible) expect(raw).not.toMatch(moves);
    expect(await storedState()).toEqual(stored);
  } finally {
    terminal.close();
  }
}

/** Each question is ended in one way, or in all of them: `npm run proofs -- terminals`. */
const cases = questions.flatMap((question, index) => {
  const both = [false, true].flatMap((isAccessible) =>
    (['Ctrl-C', 'Ctrl-D', 'SIGTERM'] as const)
      .filter((way) => way !== 'Ctrl-D' || question.isWait !== true)
      .map((way) => ({ ...question, way, isAccessible, mode: isAccessible ? 'numbered' : 'plain' })),
  );
  return isWhole ? both : both.filter((_, at) => at === index % both.length);
});

test.each(cases)(
  '$way ends a $mode question at once, in one line, and leaves all as it was: $line: $question',
  ({ way, isAccessible, ...question }) => end(question, way, isAccessible),
);
