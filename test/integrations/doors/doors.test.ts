import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { packedProject } from '../../support/packed.ts';
import { serveAt } from '../../support/served.ts';
import { makeWorkspace } from '../../support/workspace.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const project = packedProject(['vitest', 'zod']);
afterAll(() => project.remove());
const doors = Object.keys(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).exports).filter(
  (name) => !name.endsWith('.json'),
);

describe('the packed package', () => {
  test('has nothing that publint would find', async () => {
    const tarball = readFileSync(project.tarball);
    const { messages } = await publint({ pack: { tarball: new Uint8Array(tarball).buffer }, strict: true });
    expect(messages).toEqual([]);
  });

  test('has types for each door, right wherever it can be imported: it is ESM alone', async () => {
    const checked = await checkPackage(
      createPackageFromTarballData(new Uint8Array(readFileSync(project.tarball))),
    );
    if (!checked.types) return expect.fail('it has no types');
    // attw's `esm-only` profile: Node's CommonJS and Node 10 cannot import it.
    const problems = checked.problems.filter(
      (problem) =>
        !('resolutionKind' in problem && ['node10', 'node16-cjs'].includes(problem.resolutionKind)),
    );
    expect(problems).toEqual([]);
    expect(Object.keys(checked.entrypoints)).toEqual(expect.arrayContaining(doors));
  });

  test.each([true, false])('compiles with exactOptionalPropertyTypes: %s', (exactOptionalPropertyTypes) => {
    const imports = doors.map(
      (door, index) => `import * as door${index} from '${door.replace('.', 'errand')}';`,
    );
    const uses = doors.map((_, index) => `console.log(Object.keys(door${index}).length > 0);`);
    const source = [...imports, ...uses].join('\n');
    expect(project.compile({ 'all.ts': source }, { exactOptionalPropertyTypes })).toBe('');
  });
});

/** The packed scripts a script loads eagerly, including itself. */
function loadedAtOnce(script: string, found = new Set<string>()): Set<string> {
  found.add(script);
  const text = readFileSync(join(root, 'dist/sdk', script), 'utf8');
  for (const [, name = ''] of text.matchAll(/(?:\bfrom|^import|;import)\s*["']\.\/([\w.-]+)["']/g))
    if (!found.has(name)) loadedAtOnce(name, found);
  return found;
}

const packagesIn = (scripts: Iterable<string>): Set<string> =>
  new Set(
    [...scripts]
      // The bundler's runtime and re-export-only entry points have no source map.
      .filter((script) => existsSync(join(root, 'dist/sdk', `${script}.map`)))
      .flatMap(
        (script): string[] =>
          JSON.parse(readFileSync(join(root, 'dist/sdk', `${script}.map`), 'utf8')).sources,
      )
      .map((source) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(source)?.[1] ?? 'errand'),
  );

test("errand/sandbox, the tests' door, loads no library and no database before a sandbox is started", () => {
  expect(packagesIn(loadedAtOnce('sandbox.js'))).toEqual(new Set(['errand']));
  project.compile(
    { 'loads.ts': "import 'errand/sandbox';\nconsole.log(process.moduleLoadList.join());" },
    { noCheck: true },
  );
  const { stdout } = project.run('loads.js');
  expect(stdout).toContain('NativeModule');
  expect(stdout).not.toMatch(/sqlite|NativeModule http|NativeModule tls|undici/);
});

test('errand/safely loads no library and no database before a journal is opened', () => {
  expect(packagesIn(loadedAtOnce('safely.js'))).toEqual(new Set(['errand']));
});

test('errand/safely takes an order with or without a key, and refuses a misspelt field', () => {
  const source = `import { createClient, type OrderCreate } from 'errand';
import { openJournal, placeOrder } from 'errand/safely';
const client = createClient({ baseUrl: 'https://host.example', apiKey: 'key' });
await using journal = await openJournal({ folder: '/nowhere' });
declare const order: OrderCreate;
await placeOrder(client, journal, order, { refrence: '17' });
await placeOrder(client, journal, { ...order, idempotency_key: '17', max_prise: 5 });
const { order: placed } = await placeOrder(client, journal, { ...order, idempotency_key: '17' });
console.log(placed.status, placed.statsu);
await openJournal({ directory: '/nowhere' });
`;
  const said = project.compile({ 'misspelt.ts': source });
  const lines = new Map(
    [...said.matchAll(/^misspelt\.ts\((\d+),\d+\): (.*)$/gm)].map(([, line, text]) => [Number(line), text]),
  );
  expect([...lines.keys()]).toEqual([6, 7, 9, 10]);
  expect(lines.get(6)).toMatch(/'refrence' does not exist/);
  expect(lines.get(7)).toMatch(/'max_prise' does not exist/);
  expect(lines.get(9)).toMatch(/'statsu' does not exist/);
  expect(lines.get(10)).toMatch(/'directory' does not exist/);
});

describe("errand, the client's door", () => {
  test('loads no library and no database before it is used', () => {
    expect(packagesIn(loadedAtOnce('index.js'))).toEqual(new Set(['errand']));
    project.compile(
      { 'loads.ts': "import 'errand';\nconsole.log(process.moduleLoadList.join());" },
      { noCheck: true },
    );
    const { stdout } = project.run('loads.js');
    expect(stdout).toContain('NativeModule');
    expect(stdout).not.toMatch(/sqlite|NativeModule http|NativeModule tls|undici/);
  });

  test('refuses a misspelt operation, field, parameter and response', () => {
    const source = `import { createClient, type OrderCreate } from 'errand';
const client = createClient({ baseUrl: 'https://host.example', apiKey: 'key' });
const order: OrderCreate = { products: [], max_prise: 1 } as const satisfies Partial<OrderCreate>;
await client.call('order.gett', { path: { order_id: '1' } });
await client.call('order.get', { path: { orderid: '1' } });
await client.call('order.get');
await client.call('order.list', { query: { limits: 5 } });
await client.call('order.create', { body: { ...order, ship_to: 'home' } });
console.log((await client.call('order.get', { path: { order_id: '1' } })).body.statsu);
await client.stream('order.list');
for await (const { rows } of client.pages('order.list')) console.log(rows[0]?.tracking);
for await (const page of client.pages('order.get', { path: { order_id: '1' } })) console.log(page);
createClient({ baseUrl: 'https://host.example', timeout: 5 });
await client.call('wallet.get', { body: {} });
await client.call('order.list', { query: { limit: [1, 2] } });
await client.call('wallet.get', {});
await client.call('return.list', { query: { reference: 'REQ-1' } });
`;
    const said = project.compile({ 'misspelt.ts': source });
    const lines = new Map(
      [...said.matchAll(/^misspelt\.ts\((\d+),\d+\): (.*)$/gm)].map(([, line, text]) => [Number(line), text]),
    );
    expect([...lines.keys()]).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17]);
    expect(lines.get(3)).toMatch(/'max_prise' does not exist/);
    expect(lines.get(5)).toMatch(/'orderid' does not exist.*|missing.*order_id/);
    expect(lines.get(7)).toMatch(/'limits' does not exist/);
    expect(lines.get(8)).toMatch(/'ship_to' does not exist/);
    expect(lines.get(9)).toMatch(/Property 'statsu' does not exist.*Did you mean 'status'/);
    expect(lines.get(11)).toMatch(/Property 'tracking' does not exist/);
    expect(lines.get(13)).toMatch(/'timeout' does not exist/);
  });

  test('declares just the types that the shapes have', () => {
    const source = `import type * as made from './node_modules/errand/dist/types/integrations/sdk/wire.js';
import type * as ours from '${join(root, 'src/integrations/sdk/wire.ts')}';
type Open<T> = T extends readonly (infer E)[] ? readonly Open<E>[]
  : T extends string ? string
  : T extends object ? { readonly [K in keyof T as string extends K ? never : K]: Open<T[K]> } : T;
// A service may come to send other values, so that the package's unions are open.
type Same<A, B> = [Open<A>] extends [Open<B>] ? [Open<B>] extends [Open<A>] ? true : ['ours is not theirs', B] : ['theirs is not ours', A];
type Wrong<A, B> = { [K in keyof A & keyof B]: Same<A[K], B[K]> extends true ? never : K }[keyof A & keyof B];
export const names: Same<keyof made.Operations, keyof ours.Operations> = true;
export const streams: Same<keyof made.StreamedOperations, keyof ours.StreamedOperations> = true;
export const schemas: Same<made.SchemaName, ours.SchemaName> = true;
export const wrong: Record<Wrong<made.Operations, ours.Operations>, never> = {};
`;
    const options = {
      allowImportingTsExtensions: true,
      noEmit: true,
      skipLibCheck: true,
      lib: ['ES2023', 'ES2024.String', 'ESNext.Disposable'],
    };
    expect(project.compile({ 'same.ts': source }, options)).toBe('');
  });

  test('calls the service, pages its lists, streams its CSV and throws its errors', async () => {
    const workspace = makeWorkspace();
    onTestFinished(() => workspace.remove());
    const { url } = await serveAt(workspace);
    const source = `import { createClient, ErrandError, operations, schemaOf, ServiceError, UsageError } from 'errand';
const baseUrl = process.env.SERVICE ?? '';
const minted = await createClient({ baseUrl }).call('sandbox.mint', { body: {} });
await using client = createClient({ baseUrl, apiKey: minted.body.api_key });
const example = minted.body.example_order;
if (!example) throw new Error('no example');
const placed = await client.call('order.create', { body: { ...example, idempotency_key: 'one' } });
await client.call('order.create', { body: { ...example, idempotency_key: 'two' } });
const { status, body } = await client.call('order.get', { path: { order_id: placed.body.id } });
console.log(status, body.max_price === example.max_price, body.id === placed.body.id);
let rows = 0;
for await (const page of client.pages('order.list', { query: { limit: 1 } })) rows += page.rows.length;
console.log(rows);
let csv = '';
for await (const chunk of (await client.stream('order.export')).chunks) csv += Buffer.from(chunk).toString();
console.log(csv.split('\\n').length > 2);
const failure = await client.call('order.get', { path: { order_id: crypto.randomUUID() } }).catch((error: unknown) => error);
if (!(failure instanceof ServiceError)) throw failure;
console.log(failure.name, failure.category, failure.facts.status, failure instanceof ErrandError);
const wrong = await client.call('order.list', { query: { limit: 100000 } }).catch((error: unknown) => error);
if (!(wrong instanceof UsageError)) throw wrong;
console.log(wrong.message, wrong.facts.outcome);
console.log(operations['order.get'].path, (await schemaOf('OrderCreate')).type);
await client.call('order.create', { body: { ...example, metadata: { errand_reference: 'shop:REQ-1' } } });
const named = await client.call('order.list', { query: { reference: 'REQ-1', namespace: 'shop' } });
let pagedNamed = 0;
for await (const page of client.pages('order.list', { query: { reference: 'REQ-1' } })) pagedNamed += page.rows.length;
console.log(named.body.total, pagedNamed);
const both = { reference: 'REQ-1', metadata_key: 'a', metadata_value: 'b' };
const refused = await client.call('order.list', { query: both }).catch((error: unknown) => error);
console.log(refused instanceof UsageError);
const byFetch = createClient({ baseUrl, apiKey: minted.body.api_key, transport: fetch });
console.log((await byFetch.call('order.list')).body.total);
// Node warns of a leak where many wait for one signal.
const { signal } = new AbortController();
const shared = createClient({ baseUrl, apiKey: minted.body.api_key, signal });
await Promise.all(Array.from({ length: 30 }, () => shared.call('retailer.list')));
`;
    expect(project.compile({ 'calls.ts': source })).toBe('');
    const { code, stdout, stderr } = project.run('calls.js', { SERVICE: url });
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout.split('\n')).toEqual([
      '200 true true',
      '2',
      'true',
      'ServiceError not_found 404 true',
      expect.stringContaining('limit: '),
      '/orders/{order_id} object',
      '1 0',
      'true',
      '3',
      '',
    ]);
  });

  test('works over a network under fake timers, whether the client was made before them or under them', async () => {
    const workspace = makeWorkspace();
    onTestFinished(() => workspace.remove());
    const { url } = await serveAt(workspace);
    const source = `import { mock } from 'node:test';
import { createClient } from 'errand';
const baseUrl = process.env.SERVICE;
const before = createClient({ baseUrl });
mock.timers.enable({ apis: ['setInterval', 'setTimeout', 'setImmediate', 'Date'] });
const under = createClient({ baseUrl });
for (const client of [before, under]) {
  for (let at = 0; at < 3; at += 1) console.log((await client.call('retailer.list', { query: { limit: 2 } })).body.retailers.length);
  let rows = 0;
  for await (const _ of client.list('retailer.list', { query: { limit: 5 } })) if ((rows += 1) === 12) break;
  console.log(rows);
  await client.close();
}
const late = createClient({ baseUrl, timeoutMs: 20, retries: 0, transport: () => new Promise(() => {}) });
console.log((await late.call('retailer.list').catch((error) => error)).name);
`;
    project.compile({ 'fakes.ts': source }, { noCheck: true });
    const { code, stdout, stderr } = project.run('fakes.js', { SERVICE: url, NODE_OPTIONS: '--no-warnings' });
    expect([code, stderr, stdout]).toEqual([0, '', `${'2\n2\n2\n12\n'.repeat(2)}DeadlineError\n`]);
  });

  test('has a sentence for each field of what is sent and received', () => {
    const file = join(project.folder, 'node_modules/errand/dist/types/integrations/sdk/wire.d.ts');
    const lines = readFileSync(file, 'utf8').split('\n');
    const bare = lines.flatMap((line, at) => {
      const [, name] = /^ +'?([\w.]+)'?\??:/.exec(line) ?? [];
      const isCall = name === undefined || /\.|^(?:input|response|row|path|query|body|search)$/.test(name);
      return isCall || lines[at - 1]?.trim() === '*/' ? [] : [name];
    });
    expect(bare).toEqual([]);
    const text = lines.join('\n');
    expect(text).toMatch(/Ceiling of the whole order, cents[^*]*\*\/\s*max_price: number;/);
    expect(text).toMatch(/idempotency_key\?:/);
    expect(text).toMatch(/status:\s*\| 'pending'[^;]*\| \(string & \{\}\);/);
  });

  test('tells nobody the key, and everybody the idempotency_key of an order in doubt', () => {
    const source = `import { createClient } from 'errand';
import { inspect } from 'node:util';
const apiKey = 'a-key-that-is-nowhere-but-here';
const like = (init, signal) => {
  const error = new Error('no route for ' + init.headers.authorization, { cause: { config: init } });
  return Object.assign(error, { code: 'ERR_NETWORK', config: { headers: init.headers }, request: [init] });
};
const body = { products: [], max_price: 1, idempotency_key: 'shop-17' };
const client = (transport, more) => createClient({ baseUrl: 'https://host.example', apiKey, retries: 0, transport, ...more });
const order = (made, sent = body, options = {}) => made.call('order.create', { body: sent }, options).catch((error) => error);
const failing = client(async (url, init) => { throw like(init); });
const stop = new AbortController();
const stopped = client(() => { stop.abort(new Error('enough of ' + apiKey)); return new Promise(() => {}); });
const errors = [await order(failing), await order(failing, { ...body, idempotency_key: undefined }),
  await order(stopped, body, { signal: stop.signal }), await failing.call('wallet.get').catch((error) => error)];
for (const error of errors) console.log([error.name, error.facts.idempotencyKey, error.facts.hint].join(' | '));
console.log(inspect(errors, { depth: 20, showHidden: true }).includes('nowhere-but'), errors[0].cause.cause.code, errors[0].cause.cause.message);
`;
    project.compile({ 'leaks.ts': source }, { noCheck: true });
    const { stdout, stderr } = project.run('leaks.js');
    expect([stderr, stdout.split('\n')]).toEqual([
      '',
      [
        'InDoubtError | shop-17 | Send the same body with the same idempotency_key again: it is one order, however often it is sent.',
        'InDoubtError |  | Check whether it took effect before you send it again.',
        'InDoubtError | shop-17 | Send the same body with the same idempotency_key again: it is one order, however often it is sent.',
        'UnavailableError |  | Check the network and the base URL.',
        'false ERR_NETWORK no route for Bearer [redacted]',
        '',
      ],
    ]);
  });

  test('says what a program does wrong, and what to do, in words that mean something to it', () => {
    const source = `import { createClient } from 'errand';
import { openJournal } from 'errand/safely';
const baseUrl = 'https://host.example';
const quiet = { baseUrl, apiKey: 'k', retries: 0 };
const wrong = [
  () => createClient(),
  () => createClient({ baseUrl: 'host.example' }),
  () => createClient({ baseUrl: 'http://host.example' }),
  () => createClient({ baseUrl: 'embedded:' }),
  () => createClient({ baseURL: baseUrl }),
  () => createClient({ baseUrl, timeoutMs: -1 }),
  () => createClient({ baseUrl }).call('wallet.get'),
  () => createClient(quiet).call('walet.get'),
  () => createClient(quiet).call('order.export'),
  () => createClient(quiet).stream('order.list'),
  () => createClient(quiet).call('order.get', { params: {} }),
  () => createClient(quiet).call('legacy.retry', { path: { request_id: 'x' } }),
  () => createClient({ ...quiet, transport: async () => ({}) }).call('wallet.get'),
  () => createClient({ ...quiet, timeoutMs: 20, transport: () => new Promise(() => {}) }).call('wallet.get'),
  async () => { const client = createClient(quiet); await client.close(); await client.call('wallet.get'); },
  () => createClient(quiet).call('order.create', { body: { max_price: 5n } }),
  () => createClient(quiet).call('wallet.get', { body: {} }),
  () => createClient(quiet).call('order.list', { query: { limit: [1, 2] } }),
  () => createClient(quiet).call('wallet.get', {}, { signl: new AbortController().signal }),
  () => createClient(quiet).call('wallet.get', {}, { signal: {} }),
  async () => { const client = createClient({ ...quiet, transport: () => new Promise(() => {}) }); const call = client.call('wallet.get'); setTimeout(() => client.close(), 20); await call; },
  () => openJournal({ folder: 'here' }),
  () => openJournal({ folder: '/proc/none' }),
  () => openJournal({ folder: process.env.HOME + '/j', program: 'a shop' }),
  async () => { const journal = await openJournal({ folder: process.env.HOME + '/j' }); await journal.close(); await journal.close(); journal.unsettled(); },
];
for (const one of wrong)
  await (async () => one())().then(() => console.log('nothing'), (error) => console.log([error.name, error.message, error.facts.hint ?? ''].join(' | ')));
`;
    project.compile({ 'wrong.ts': source }, { noCheck: true });
    const { stdout, stderr } = project.run('wrong.js');
    expect(stderr).toBe('');
    expect(stdout.replaceAll(project.folder, 'HOME').replace(/\n$/, '').split('\n')).toEqual([
      'UsageError | createClient takes an object of options | ',
      'UsageError | "host.example" is not a base URL; write https://host/path | ',
      expect.stringContaining('http://host.example is plain http'),
      expect.stringContaining('errand/sandbox starts one'),
      expect.stringContaining('called "baseURL"; did you mean "baseUrl"?'),
      'UsageError | timeoutMs of createClient takes a number of milliseconds, at least 1 | ',
      'MissingKeyError | wallet.get needs apiKey, which createClient was not given | ',
      'UsageError | there is no operation "walet.get"; did you mean "wallet.get"? | ',
      'UsageError | order.export returns CSV; use client.stream | ',
      'UsageError | order.list returns JSON; use client.call | ',
      expect.stringContaining('called "params"; known: path, query, body'),
      expect.stringContaining('createClient needs legacyBaseUrl'),
      expect.stringMatching(/no response with a status and headers \| Check the network and the base URL\.$/),
      expect.stringMatching(/^DeadlineError \| .* within 0\.02s \| A longer timeoutMs waits longer\.$/),
      'UsageError | the client is closed; createClient makes another | ',
      expect.stringMatching(/^UsageError \| body: it cannot be written as JSON: .*BigInt/),
      'UsageError | wallet.get takes no body | ',
      expect.stringMatching(/^UsageError \| limit: Input should be one value, not a list \| /),
      expect.stringContaining('called "signl"; did you mean "signal"?'),
      'UsageError | signal of wallet.get takes an AbortSignal | ',
      expect.stringMatching(/^InterruptedError \| interrupted/),
      'UsageError | folder of openJournal takes the absolute path of a folder | ',
      expect.stringMatching(/^StorageError \| .*Give openJournal another only if nothing was ever ordered/),
      expect.stringContaining('at most 60 letters, digits and ._-'),
      'UsageError | the journal in HOME/j is closed | ',
    ]);
  });
});
