import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { makeKey } from '../../support/approval-workspace.ts';
import { packedProject } from '../../support/packed.ts';
import { errand, shell } from '../../support/run.ts';
import { serveAt } from '../../support/served.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';
import { type Ended, programsOf } from './programs.ts';

const project = packedProject();
afterAll(() => project.remove());

const runProgram = programsOf(project);

let workspace: Workspace;
let service: string;
let order: Record<string, unknown>;
let environment: Record<string, string>;

beforeEach(async () => {
  workspace = makeWorkspace();
  onTestFinished(() => workspace.remove());
  ({ url: service } = await serveAt(workspace, '--speed', '1000'));
  const minted = await mint();
  order = { ...minted.example_order, idempotency_key: 'order-17' };
  environment = {
    SERVICE: service,
    KEY: minted.api_key,
    FOLDER: join(workspace.folder, '.journal'),
    ORDER: JSON.stringify(order),
  };
});

async function mint(): Promise<{ api_key: string; example_order: Record<string, unknown> }> {
  const response = await fetch(`${service}/sandbox/keys`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  });
  return JSON.parse(await response.text());
}

const run = (source: string, more: Record<string, string> = {}, until?: string): Promise<Ended> =>
  runProgram(source, { ...workspace.environment, ...environment, ...more }, until);

const ours = () => ({
  ...workspace,
  environment: {
    ...workspace.environment,
    ERRAND_STATE_DIR: environment.FOLDER ?? '',
    ERRAND_API_KEY: environment.KEY ?? '',
    ERRAND_BASE_URL: service,
  },
});
const cli = async (...args: string[]) => {
  const { code, stdout, stderr } = await errand(ours(), [...args, '-o', 'json']);
  return { code, stderr, json: stdout === '' ? undefined : JSON.parse(stdout) };
};
const ordersAtService = async (): Promise<number> => (await cli('order', 'list')).json.length;

describe('placeOrder', () => {
  test('places one order for a key, which the command line finds reported, with the program in the audit chain', async () => {
    const { code, told, stderr } = await run(`
      const first = await placeOrder(client, journal, order);
      const second = await placeOrder(client, journal, { ...order });
      tell([first.existed, second.existed, first.order.id === second.order.id, first.order.max_price, journal.unsettled()]);
      await journal.close(); await client.close();`);
    expect([code, stderr]).toEqual([0, '']);
    expect(told).toEqual([[false, true, true, order.max_price, []]]);
    const { json: records } = await cli('order', 'journal', 'list', '--all');
    expect(records).toMatchObject([{ key: 'order-17', state: 'reported', operation: 'order.create' }]);
    const { json: audit } = await cli('audit', 'log');
    expect(audit.map((one: { kind: string }) => one.kind)).toEqual(
      expect.arrayContaining(['intent', 'responded']),
    );
    expect(audit.find((one: { kind: string }) => one.kind === 'intent')).toMatchObject({
      actor: expect.stringMatching(/^program shop \(.+@.+\)$/),
      command: 'errand/safely',
    });
    expect(await ordersAtService()).toBe(1);
  });

  test('gives one order to many calls at once, in one process and in several', async () => {
    const source = `
      const all = await Promise.all(Array.from({ length: 5 }, () => placeOrder(client, journal, order)));
      tell([...new Set(all.map(({ order }) => order.id))]);
      await journal.close();`;
    const ended = await Promise.all([run(source), run(source), run(source)]);
    expect(ended.map(({ code, stderr }) => [code, stderr])).toEqual(ended.map(() => [0, '']));
    expect(new Set(ended.flatMap(({ told }) => told.flat())).size).toBe(1);
    expect(await ordersAtService()).toBe(1);
  });

  test('says what is in doubt with its key, and the same call settles it; so does the command line, while the program runs', async () => {
    const { told, stderr } = await run(`
      import { execFile } from 'node:child_process';
      const doubt = await placeOrder(deaf(), journal, order).catch((error) => error);
      tell([doubt instanceof InDoubtError, doubt.facts.idempotencyKey, doubt.facts.outcome, journal.unsettled().length]);
      const { command } = doubt.facts.next[0];
      const resumed = await new Promise((resolve) => execFile('sh', ['-c', command + ' -o json'],
        { env: { ...process.env, ERRAND_API_KEY: apiKey } }, (error, stdout) => resolve([error?.code ?? 0, stdout])));
      const again = await placeOrder(client, journal, order);
      tell([resumed[0], resumed[1].includes(again.order.id), again.existed, journal.unsettled().length]);
      const other = { ...order, idempotency_key: 'order-18' };
      await placeOrder(deaf(), journal, other).catch(() => {});
      const settled = await resumeOrder(client, journal, 'order-18');
      tell([settled.existed, settled.order.id !== again.order.id, journal.unsettled().length]);`);
    expect(stderr).toBe('');
    expect(told).toEqual([
      [true, 'order-17', 'unknown', 1],
      [0, true, true, 0],
      [true, true, 0],
    ]);
    expect(await ordersAtService()).toBe(2);
  });

  test('an order that the service names in place of making one is in doubt where it is another, and never resolved with it', async () => {
    const { told, stderr } = await run(`
      const other = await placeOrder(client, journal, { ...order, idempotency_key: 'order-16', metadata: { run: '16' } });
      const answer = { code: 'already_exists', message: 'It exists.', details: { resource: 'order', identifier: other.order.id } };
      const lying = createClient({ baseUrl, apiKey, transport: async (url, init) =>
        init.method === 'POST' ? Response.json(answer, { status: 409 }) : fetch(url, init) });
      const doubt = await placeOrder(lying, journal, order).catch((error) => error);
      tell([doubt instanceof InDoubtError, doubt.facts?.outcome, journal.unsettled().map(({ key, orderId }) => [key, orderId])]);
      const placed = await placeOrder(client, journal, order);
      tell([placed.existed, placed.order.id === other.order.id, journal.unsettled().length]);
      const reading = createClient({ baseUrl, apiKey, transport: async (url, init) => {
        const response = await fetch(url, init);
        return Response.json({ ...(await response.json()), max_price: 1 }, { status: response.status });
      } });
      tell((await placeOrder(reading, journal, order).catch((error) => error)) instanceof InDoubtError);`);
    expect(stderr).toBe('');
    expect(told).toEqual([[true, 'unknown', [['order-17', null]]], [false, false, 0], true]);
    expect(await ordersAtService()).toBe(2);
  });

  test('goes on after a kill between the request and its response', async () => {
    const killed = await run(
      `placeOrder(deaf(() => { console.log('"sent"'); return new Promise(() => {}); }), journal, order); setInterval(() => {}, 1000);`,
      {},
      'sent',
    );
    expect(killed.told).toEqual(['sent']);
    const { told } = await run(`
      tell(journal.unsettled().map(({ key, orderId }) => [key, orderId]));
      const { order: placed, existed } = await placeOrder(client, journal, order);
      tell([existed, placed.status !== undefined, journal.unsettled().length]);`);
    expect(told).toEqual([[['order-17', null]], [true, true, 0]]);
    expect(await ordersAtService()).toBe(1);
  });

  test('an abandoned call goes on, and one that is aborted is in doubt', async () => {
    const { told } = await run(`
      const slow = () => {
        let comes, go;
        const came = new Promise((resolve) => { comes = resolve; });
        const gone = new Promise((resolve) => { go = resolve; });
        const transport = async (url, init) => {
          const response = await fetch(url, init);
          comes();
          await gone;
          return response;
        };
        return { client: createClient({ baseUrl, apiKey, transport }), came, go };
      };
      const first = slow();
      const abandoned = placeOrder(first.client, journal, order);
      await first.came;
      const again = placeOrder(client, journal, order);
      first.go();
      tell([(await again).existed, (await abandoned).order.id === (await again).order.id]);
      const other = { ...order, idempotency_key: 'order-18' };
      const second = slow();
      const stop = new AbortController();
      second.came.then(() => stop.abort());
      const aborted = await failure(placeOrder(second.client, journal, other, { signal: stop.signal }));
      tell([aborted.name, aborted.category, aborted.facts.outcome, aborted.facts.idempotencyKey]);
      tell((await placeOrder(client, journal, other)).existed);`);
    expect(told).toEqual([[true, true], ['InDoubtError', 'in_doubt', 'unknown', 'order-18'], true]);
    expect(await ordersAtService()).toBe(2);
  });

  test('an order that was sent is an InDoubtError, whatever its call was aborted with', async () => {
    const { told, stderr } = await run(`
      const enough = new Error('enough');
      const dead = () => new Promise(() => {});
      const sender = (then) => createClient({ baseUrl, apiKey, retries: 0, transport: async (url, init) => {
        const response = await fetch(url, init);
        return then(response);
      } });
      const tellOf = async (key, call) => {
        const error = await call.catch((error) => error);
        tell([key, error instanceof InDoubtError, error.category, error.facts.outcome, error.facts.idempotencyKey]);
      };
      const keyed = (idempotency_key) => ({ ...order, idempotency_key });
      const reasons = { none: undefined, text: 'text', nothing: null, error: enough,
        late: new DOMException('late', 'TimeoutError'), signal: new ErrandError('interrupted', 'Ctrl-C') };
      for (const [key, reason] of Object.entries(reasons)) {
        const stop = new AbortController();
        const sent = sender(() => { stop.abort(reason); return dead(); });
        await tellOf(key, placeOrder(sent, journal, keyed(key), { signal: stop.signal }));
      }
      const closing = sender(() => { closing.close(); return dead(); });
      await tellOf('closed', placeOrder(closing, journal, keyed('closed')));
      const bare = new AbortController();
      const called = sender(() => { bare.abort(enough); return dead(); });
      await tellOf('bare', called.call('order.create', { body: keyed('bare') }, { signal: bare.signal }));
      for (const category of ['interrupted', 'terminated']) {
        const stop = new AbortController();
        const sent = sender(() => { stop.abort(new ErrandError(category, 'stop')); return dead(); });
        await tellOf(category, sent.call('order.create', { body: keyed(category) }, { signal: stop.signal }));
      }`);
    expect(stderr).toBe('');
    const keys = [
      'none',
      'text',
      'nothing',
      'error',
      'late',
      'signal',
      'closed',
      'bare',
      'interrupted',
      'terminated',
    ];
    expect(told).toEqual(keys.map((key) => [key, true, 'in_doubt', 'unknown', key]));
  });

  test('an abort before anything is sent says so, and leaves what an earlier call did in doubt', async () => {
    const { told, stderr } = await run(`
      const { idempotency_key: _, ...plain } = order;
      const reading = () => {
        const stop = new AbortController();
        const transport = (url, init) => {
          if (init.method === 'POST') return fetch(url, init);
          stop.abort();
          return new Promise(() => {});
        };
        return [createClient({ baseUrl, apiKey, retries: 0, transport }), { signal: stop.signal }];
      };
      const tellOf = async (call) => {
        const { name, category, facts } = await failure(call);
        tell([name, category, facts?.outcome]);
      };
      const [first, stop] = reading();
      await tellOf(placeOrder(first, journal, plain, { ...stop, reference: 'PO-1' }));
      tell(journal.unsettled().length);
      await failure(placeOrder(deaf(), journal, plain, { reference: 'PO-1' }));
      const [second, again] = reading();
      await tellOf(placeOrder(second, journal, plain, { ...again, reference: 'PO-1' }));
      const [key] = journal.unsettled();
      const stopped = new AbortController();
      stopped.abort();
      await tellOf(resumeOrder(client, journal, key.key, { signal: stopped.signal }));
      await tellOf(placeOrder(client, journal, order, { signal: stopped.signal }));`);
    expect(stderr).toBe('');
    expect(told).toEqual([
      ['InterruptedError', 'interrupted', 'not_sent'],
      0,
      ['InDoubtError', 'in_doubt', 'unknown'],
      ['InDoubtError', 'in_doubt', 'unknown'],
      ['InterruptedError', 'interrupted', 'not_sent'],
    ]);
  });

  test('refuses an order that is not valid or stands for another one, before anything is sent', async () => {
    const { told } = await run(`
      tell(await failure(placeOrder(client, journal, { ...order, max_prise: 1, max_price: '12' })));
      tell(await failure(placeOrder(createClient({ baseUrl }), journal, order)));
      tell(await failure(placeOrder({}, journal, order)));
      await placeOrder(client, journal, order);
      tell(await failure(placeOrder(client, journal, { ...order, max_price: order.max_price + 1 })));`);
    expect(told.map(({ name, category }) => [name, category])).toEqual([
      ['UsageError', 'usage'],
      ['MissingKeyError', 'authentication'],
      ['UsageError', 'usage'],
      ['ErrandError', 'conflict'],
    ]);
    expect(told[0]?.message).toMatch(/max_price: .*max_prise: Extra inputs are not permitted/);
    expect(told[3]?.message).toMatch(/the key order-17 belongs to another order.*max_price/);
    // The way on leads to the service of the client.
    expect(told[3]?.facts?.next?.[0]?.command).toMatch(
      new RegExp(`ERRAND_STATE_DIR=\\S+ errand order get [0-9a-f-]{36} --base-url ${service}$`),
    );
    expect(await ordersAtService()).toBe(1);
  });

  test('a key that was sent to another service or for another account makes no second order', async () => {
    await run('await placeOrder(client, journal, order);');
    const { url: other } = await serveAt(makeOther(), '--speed', '1000');
    const elsewhere = await run('tell(await failure(placeOrder(client, journal, order)));', {
      SERVICE: other,
    });
    expect(elsewhere.told[0]).toMatchObject({
      category: 'conflict',
      facts: { outcome: 'not_sent' },
      message: expect.stringContaining('order-17 was sent to another service, and is the order '),
    });
    const { api_key: KEY } = await mint();
    const { told } = await run('tell(await failure(placeOrder(client, journal, order)));', { KEY });
    expect(told[0]).toMatchObject({
      category: 'conflict',
      facts: { outcome: 'not_sent' },
      message: expect.stringContaining('this account has no such order'),
    });
    expect(await ordersAtService()).toBe(1);
  });

  function makeOther(): Workspace {
    const other = makeWorkspace();
    onTestFinished(() => other.remove());
    return other;
  }
});

describe('the policy of a journal', () => {
  const policy = (text: string): Record<string, string> => {
    const file = join(workspace.folder, 'policy.yaml');
    writeFileSync(file, `version: 1\n${text}\n`, { mode: 0o600 });
    return { POLICY: file };
  };

  test('refuses what is beyond a limit, across processes, and says what is left', async () => {
    const price = Number(order.max_price) + 100;
    const limit = policy(`limits: { per_day: $${((price + 100) / 100).toFixed(2)} }`);
    const one = (key: string) =>
      run(
        `tell(await failure(placeOrder(client, journal, { ...order, idempotency_key: '${key}' })));`,
        limit,
      );
    const ended = await Promise.all(['a', 'b', 'c'].map(one));
    const told = ended.flatMap((one) => one.told);
    const refused = told.filter(({ name }) => name === 'PolicyError');
    expect([told.length, refused.length]).toEqual([3, 2]);
    for (const error of refused)
      expect(error).toMatchObject({
        category: 'policy',
        verdict: 'refused',
        facts: { code: 'policy_refused', outcome: 'not_sent', details: { policy: { outcome: 'refused' } } },
      });
    expect(await ordersAtService()).toBe(1);
  });

  test('counts an order that was paid for without an account with what it cost', async () => {
    const ceiling = Number(order.max_price) + 100;
    const limit = policy(`limits: { per_day: $${((2 * ceiling - 1) / 100).toFixed(2)} }`);
    writeFileSync(
      join(workspace.folder, 'order.json'),
      JSON.stringify({ ...order, idempotency_key: undefined }),
    );
    const paying = { ...ours(), environment: { ...ours().environment, ERRAND_POLICY: limit.POLICY ?? '' } };
    const paid = await errand(paying, ['agent', 'order', 'create', '--file', 'order.json', '--watch']);
    expect(paid.code, paid.stderr).toBe(0);
    const { told, stderr } = await run('tell(await failure(placeOrder(client, journal, order)));', limit);
    expect([told, stderr]).toEqual([[{ value: expect.objectContaining({ existed: false }) }], '']);
  });

  test('asks a person for a yes: the error has the id and the command, and the same call goes through once it was said', async () => {
    const key = makeKey(workspace, 'ada');
    const approving = policy('approve: { above: $1 }\napprovers: [ada.pub]');
    const first = await run('tell(await failure(placeOrder(client, journal, order)));', approving);
    const [error] = first.told;
    expect(error).toMatchObject({
      name: 'PolicyError',
      verdict: 'needs_approval',
      facts: { outcome: 'not_sent' },
    });
    expect(error?.approval).toMatch(/^[0-9a-f]{12}$/);
    expect(error?.facts?.hint).toContain('place the same order again, with the same key if you gave it one');
    const commands = error?.facts?.next.map(({ command }) => command) ?? [];
    const approve = commands.find((command) => command.includes('approval approve')) ?? '';
    expect(approve).toContain(`ERRAND_STATE_DIR=${environment.FOLDER} `);
    expect((await errandLine(approve.replace('~/.ssh/id_ed25519', key))).code).toBe(0);
    const second = await run('tell((await placeOrder(client, journal, order)).existed);', approving);
    expect([second.told, second.stderr]).toEqual([[false], '']);
    const { json: audit } = await cli('audit', 'log');
    expect(audit.map((one: { kind: string }) => one.kind)).toEqual(
      expect.arrayContaining(['approval_asked', 'approved', 'intent']),
    );
  });

  test('a policy that is not there, or not understood, opens no journal', async () => {
    const missing = await run('', { POLICY: join(workspace.folder, 'none.yaml') });
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining('does not exist')]);
    const wrong = await run('', policy('limit: { per_day: $5 }'));
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('limit')]);
  });

  const errandLine = (line: string) => shell(ours(), line);
});
