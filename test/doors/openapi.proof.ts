import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { installLocked } from '../support/install-locked.ts';
import { TestService } from '../support/service.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
const root = join(here, '../..');
const run = promisify(execFile);
const tool = (name: string): string => join(here, 'node_modules/.bin', name);

let service: TestService;
let folder: string;
beforeAll(async () => {
  await installLocked(here, '@redocly/cli');
  service = await TestService.start();
  folder = mkdtempSync(join(tmpdir(), 'errand-openapi-'));
  symlinkSync(join(here, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'redocly.yaml'), 'extends: [recommended]\n');
  writeFileSync(join(folder, 'openapi.json'), (await service.send('GET', '/openapi.json')).text);
});
afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

test('redocly finds no error in the description, by its recommended rules', async () => {
  const lint = ['lint', 'openapi.json', '--format', 'json'];
  const { stdout } = await run(tool('redocly'), lint, { cwd: folder, maxBuffer: 1e8 });
  const { totals, problems } = JSON.parse(stdout);
  expect(totals.errors).toBe(0);
  // The service's own paths: a product that is called test-products, and a list that anybody may read.
  const rules = problems.map(({ ruleId }: { ruleId: string }) => ruleId);
  expect(new Set(rules)).toEqual(new Set(['no-ambiguous-paths', 'operation-4xx-response']));
});

/** Places an order, with the types that a generator made, and reads it until it is placed. */
const programs: Readonly<Record<string, { readonly generate: readonly string[]; readonly source: string }>> =
  {
    'openapi-typescript with openapi-fetch': {
      generate: ['openapi-typescript', 'openapi.json', '-o', 'made.ts'],
      source: `import createClient from 'openapi-fetch';
import type { components, paths } from './made.ts';
const { SERVICE: baseUrl = '', KEY = '', ORDER = '' } = process.env;
const order: components['schemas']['OrderCreate'] = JSON.parse(ORDER);
const client = createClient<paths>({ baseUrl, headers: { authorization: 'Bearer ' + KEY } });
const { data: placed, error } = await client.POST('/orders', { body: order });
if (!placed) throw new Error(JSON.stringify(error));
const product: components['schemas']['OrderItem'] | undefined = placed.items[0];
console.log('placed');
for (;;) {
  const { data } = await client.GET('/orders/{order_id}', { params: { path: { order_id: placed.id } } });
  if (data?.status === 'order_placed') break;
}
console.log(placed.max_price === order.max_price, product?.url === order.products[0]?.url);
`,
    },
    'swagger-typescript-api': {
      generate: [
        'swagger-typescript-api',
        'generate',
        '-p',
        'openapi.json',
        '-o',
        '.',
        '-n',
        'made.ts',
        '--silent',
      ],
      source: `import { Api, type OrderCreate, type OrderResponse } from './made.ts';
const { SERVICE: baseUrl = '', KEY = '', ORDER = '' } = process.env;
const order: OrderCreate = JSON.parse(ORDER);
const api = new Api({ baseUrl, baseApiParams: { secure: true, format: 'json' }, securityWorker: () => ({ headers: { authorization: 'Bearer ' + KEY } }) });
const placed: OrderResponse = (await api.orders.orderCreate(order)).data;
console.log('placed');
while ((await api.orders.orderGet(placed.id)).data.status !== 'order_placed');
console.log(placed.max_price === order.max_price, placed.items[0]?.url === order.products[0]?.url);
`,
    },
  };

const strict = {
  ...{ strict: true, noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: false, skipLibCheck: true },
  ...{ module: 'nodenext', target: 'es2023', rewriteRelativeImportExtensions: true, noEmit: false },
  ...{
    lib: ['es2023', 'dom', 'dom.iterable'],
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
  },
};

test.each(Object.entries(programs))(
  'a client made by %s has named types, orders and watches',
  async (_, { generate: [command = '', ...args], source }) => {
    await run(tool(command), args, { cwd: folder, maxBuffer: 1e8 });
    writeFileSync(join(folder, 'program.ts'), source);
    writeFileSync(
      join(folder, 'tsconfig.json'),
      JSON.stringify({ compilerOptions: strict, files: ['program.ts'] }),
    );
    const compiler = join(root, 'node_modules/typescript/bin/tsc');
    const compiled = await run(process.execPath, [compiler, '-p', '.'], { cwd: folder }).catch(
      (failure: { stdout: string }) => failure,
    );
    expect(compiled.stdout).toBe('');
    const { example_order: order } = (await service.send('POST', '/sandbox/keys', {})).body;
    const env = { ...process.env, SERVICE: service.baseUrl, KEY: service.key, ORDER: JSON.stringify(order) };
    const child = spawn(process.execPath, ['program.js'], { cwd: folder, env });
    let said = '';
    child.stderr.on('data', (text) => {
      said += text;
    });
    child.stdout.on('data', (text) => {
      said += text;
      // The order goes on once the program has it.
      if (said === 'placed\n') service.pass(3_600_000);
    });
    const code = await new Promise((resolve) => child.on('close', resolve));
    expect([code, said]).toEqual([0, 'placed\ntrue true\n']);
  },
);
