import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Journal } from '../../../src/journal/journal.ts';
import { openWebhookStore } from '../../../src/journal/webhook-store.ts';
import { baseUrl, intent } from '../../support/intents.ts';
import { errand, shell } from '../../support/run.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

/** What errand returns to the shell's completion script. */
interface Completed {
  readonly mode: string;
  readonly texts: ReadonlyMap<string, string>;
  readonly values: readonly string[];
}

async function complete(workspace: Workspace, words: readonly string[]): Promise<Completed> {
  const { code, stdout, stderr } = await errand(workspace, ['__complete', '--', ...words]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const [mode = '', ...records] = stdout.split('\0').slice(0, -1);
  const texts = new Map(
    records.map((record): [string, string] => {
      const [value = '', text = ''] = record.split('\t');
      return [value, text];
    }),
  );
  return { mode, texts, values: [...texts.keys()] };
}

describe('what a TAB is told', () => {
  let workspace: Workspace;
  let order: string;

  beforeAll(async () => {
    workspace = makeWorkspace();
    await errand(workspace, ['profile', 'set', 'work', '--base-url', 'https://service.example']);
    const line = "errand order create --product $(errand sandbox products -o id | head -1) --max-price '$50'";
    order = (await shell(workspace, `${line} --ship-to home -o id`)).stdout.trim();
  });

  afterAll(() => workspace.remove());

  test('nouns with their summaries, in the order of the help', async () => {
    const { values, texts } = await complete(workspace, ['']);
    expect(values.slice(0, 3)).toEqual(['quickstart', 'search', 'product']);
    expect(values.at(-1)).toBe('help');
    expect(texts.get('address')).toBe('Local address book');
  });

  test('verbs of a noun and of a noun within it; an alias once it is begun', async () => {
    expect((await complete(workspace, ['order', 'jour'])).values).toEqual(['journal']);
    expect((await complete(workspace, ['order', 'journal', ''])).values).toEqual([
      'list',
      'resume',
      'forget',
      'move',
      'repair',
    ]);
    expect((await complete(workspace, ['order', ''])).values).not.toContain('ls');
    expect((await complete(workspace, ['order', 'l'])).values).toEqual(['list', 'ls']);
    expect((await complete(workspace, ['address', 'rm', 'ho'])).values).toEqual(['home']);
  });

  test('flags of the command and of the program, none twice, and those that repeat again', async () => {
    const { values } = await complete(workspace, [
      'order',
      'create',
      '--max-price',
      '$50',
      '--product',
      'x',
      '--',
    ]);
    expect(values).toEqual(
      expect.arrayContaining([
        '--product',
        '--max-price-cents',
        '--ship-to',
        '--output',
        '--no-input',
        '--dry-run',
      ]),
    );
    expect(values).not.toContain('--max-price');
    expect((await complete(workspace, ['order', 'list', '--no-has'])).values).toEqual(['--no-has-tracking']);
    expect((await complete(workspace, ['--out'])).values).toEqual(['--output']);
  });

  test('values: after the flag, after =, joined to a short one, and between commas', async () => {
    expect((await complete(workspace, ['order', 'list', '--status', 'in-'])).values).toEqual([
      'in-progress',
      'in-transit',
    ]);
    expect((await complete(workspace, ['order', 'list', '--status=wait'])).values).toEqual([
      '--status=waiting',
    ]);
    expect((await complete(workspace, ['config', 'set', 'outp'])).values).toEqual(['output']);
    expect((await complete(workspace, ['config', 'set', 'color', ''])).values).toEqual([
      'auto',
      'always',
      'never',
    ]);
    expect((await complete(workspace, ['-oj'])).values).toEqual(['-ojson']);
    expect((await complete(workspace, ['order', 'create', '--best-effort', 'gift,it'])).values).toEqual([
      'gift,items',
    ]);
    expect((await complete(workspace, ['order', 'create', '--best-effort', 'gift,g'])).values).toEqual([]);
  });

  test('after -- there are no flags', async () => {
    expect((await complete(workspace, ['order', 'get', '--', '-'])).values).toEqual([]);
    expect((await complete(workspace, ['order', 'get', '--', ''])).values).toEqual([order]);
  });

  test('free text has no candidates, and no files', async () => {
    expect(await complete(workspace, ['order', 'list', '--search', ''])).toMatchObject({
      mode: 'words',
      values: [],
    });
  });

  test('files where a file is expected', async () => {
    expect((await complete(workspace, ['order', 'create', '--file', ''])).mode).toBe('files');
    expect((await complete(workspace, ['order', 'create', '--file=x'])).mode).toBe('files');
    expect((await complete(workspace, ['order', 'create', '--ship-to', 'no-such'])).mode).toBe('files');
  });

  test('what this machine knows: profiles, addresses, retailers, orders with their status', async () => {
    expect((await complete(workspace, ['--profile', ''])).texts.get('work')).toBe('https://service.example');
    expect((await complete(workspace, ['order', 'create', '--ship-to', ''])).texts.get('home')).toMatch(
      /Austin/,
    );
    expect((await complete(workspace, ['search', '--retailer', 'harb'])).texts.get('harborgoods')).toBe(
      'Harbor Goods',
    );
    expect((await complete(workspace, ['order', 'get', ''])).texts.get(order)).toMatch(
      /^(waiting|in progress) {2}\S/,
    );
    expect((await complete(workspace, ['track', order.slice(0, 4)])).values).toEqual([order]);
    // What is placed by now can be returned, and what waits can be cancelled.
    const [{ status }] = JSON.parse((await errand(workspace, ['order', 'list', '-o', 'json'])).stdout);
    const offered = async (...words: string[]) => (await complete(workspace, [...words, ''])).values;
    expect((await offered('order', 'cancel')).includes(order)).toBe(status === 'pending');
    expect((await offered('return', 'create', '--order')).includes(order)).toBe(status === 'order_placed');
    expect((await complete(workspace, ['order', 'get', order, ''])).values).not.toContain(order);
  });

  test('orders that this machine placed at another service, from the journal, and those in doubt', async () => {
    const [placed, doubtful] = ['5b752880-d419-4fed-81f6-29453d5d89cb', 'in-doubt-key'];
    const journal = await Journal.open(join(workspace.folder, '.state'), () =>
      Date.parse('2026-03-01T12:00:00Z'),
    );
    await journal.record(intent('settled-key'));
    await journal.respond('settled-key', baseUrl, placed);
    await journal.record(intent(doubtful, 1));
    journal.close();
    const work = ['--profile', 'work', 'order'];
    expect([...(await complete(workspace, [...work, 'get', ''])).texts]).toEqual([
      [placed, 'placed 2026-03-01T12:00Z'],
    ]);
    expect((await complete(workspace, [...work, 'journal', 'resume', ''])).values).toEqual([doubtful]);
  });

  test('webhook events that were received', async () => {
    const store = await openWebhookStore(join(workspace.folder, '.state'), Date.now);
    await store.events.save(
      {
        event: 'order.placed',
        orderId: 'o-1',
        status: null,
        errorType: null,
        headers: {},
        body: '{}',
        profile: 'local',
        baseUrl: 'embedded:',
      },
      { acts: false, shows: false },
    );
    store.close();
    expect([...(await complete(workspace, ['webhook', 'replay', ''])).texts]).toEqual([
      ['1', 'order.placed  o-1'],
    ]);
  });

  test('orders of the profile that the line names, not of another', async () => {
    expect((await complete(workspace, ['order', 'get', '--profile', 'work', ''])).values).not.toContain(
      order,
    );
    expect((await complete(workspace, ['--base-url', 'embedded:', 'order', 'get', ''])).values).toContain(
      order,
    );
  });

  test('help completes commands and topics', async () => {
    expect((await complete(workspace, ['help', 'mo'])).values).toEqual(['money']);
    expect((await complete(workspace, ['help', 'order', 'can'])).values).toEqual(['cancel']);
  });

  test('schema output completes the words of commands, failures and its own flag', async () => {
    expect((await complete(workspace, ['schema', 'output', 'er'])).values).toEqual(['error']);
    expect((await complete(workspace, ['schema', 'output', 'order', 'jou'])).values).toEqual(['journal']);
    expect((await complete(workspace, ['schema', 'output', '--al'])).values).toEqual(['--all']);
    expect((await complete(workspace, ['schema', 'output', 'bulk.repo'])).values).toEqual(['bulk.report']);
    expect((await complete(workspace, ['schema', 'output', 'order.journal.r'])).values).toContain(
      'order.journal.resume',
    );
    expect((await complete(workspace, ['schema', 'output', 'no.'])).values).toEqual([]);
    expect((await complete(workspace, ['schema', 'output', 'hel'])).values).toEqual([]);
  });

  test('words that name nothing have no candidates', async () => {
    expect((await complete(workspace, ['no-such-noun', ''])).values).toEqual([]);
    expect((await complete(workspace, ['order', 'no-such-verb', ''])).values).toEqual([]);
    expect((await complete(workspace, ['order', 'list', '--no-such-flag=x'])).values).toEqual([]);
    expect((await complete(workspace, [])).values).toContain('order');
  });

  test('a configuration or store that is broken, huge or missing is passed over in silence', async () => {
    const broken = makeWorkspace();
    try {
      mkdirSync(join(broken.folder, '.config'));
      mkdirSync(join(broken.folder, '.state'));
      writeFileSync(join(broken.folder, '.config', 'config.json'), '{"profiles":[],"addresses":{"a":7');
      writeFileSync(join(broken.folder, '.state', 'sandbox.db'), 'no database');
      writeFileSync(join(broken.folder, '.state', 'journal.db'), 'no database');
      expect((await complete(broken, ['--profile', ''])).values).toEqual(['local']);
      broken.environment.ERRAND_API_KEY = 'sbx_test_x';
      expect((await complete(broken, ['order', 'get', '-'])).values).toContain('--output');
      expect((await complete(broken, ['order', 'journal', 'resume', 'a'])).values).toEqual([]);
    } finally {
      broken.remove();
    }
  });

  test('a name that a terminal would obey is left out, and a description is made plain', async () => {
    const hostile = makeWorkspace();
    try {
      mkdirSync(join(hostile.folder, '.config'));
      const profiles = {
        'a\u001b]0;x\u0007': {},
        'tab\tname': {},
        ok: { base_url: 'https://x\u001b[2J\n\u202ey' },
      };
      writeFileSync(join(hostile.folder, '.config', 'config.json'), JSON.stringify({ profiles }));
      const { texts, values } = await complete(hostile, ['--profile', '']);
      expect(values).toEqual(['local', 'ok']);
      expect(texts.get('ok')).toBe('https://x [2J y');
    } finally {
      hostile.remove();
    }
  });
});
