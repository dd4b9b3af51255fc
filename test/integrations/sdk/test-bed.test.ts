import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { packedProject } from '../../support/packed.ts';

const project = packedProject(['vitest']);
afterAll(() => project.remove());

/** Runs a user's test script against the packed package. */
function script(source: string): { code: number | null; stdout: string; stderr: string } {
  writeFileSync(join(project.folder, 'script.js'), source);
  return project.run('script.js');
}

/** Places an order in a sandbox and returns its outcome. */
const play = `async function play(sandbox) {
  const headers = { authorization: 'Bearer ' + sandbox.apiKey, 'content-type': 'application/json' };
  const body = JSON.stringify({ ...sandbox.exampleOrder, idempotency_key: 'one' });
  const { id } = await (await sandbox.fetch('/orders', { method: 'POST', headers, body })).json();
  await sandbox.advance('3d');
  const order = await (await sandbox.fetch('/orders/' + id, { headers })).json();
  return [order.id, order.status, order.tracking_numbers[0].status, order.updated_at];
}
`;

describe('errand/sandbox, as the package has it', () => {
  test('refuses a misspelt option, fault, event and field when it is compiled', () => {
    const source = `import { startSandbox } from 'errand/sandbox';
const sandbox = await startSandbox({ port: false, faults: ['429=5s:10%', 'html:504-after@POST /orders', '402:payment_failed', '409={"code":"taken"}:20%'] });
await startSandbox({ clok: 'frozen' });
await startSandbox({ clock: 'slow' });
await startSandbox({ faults: ['resett-after'] });
await sandbox.trigger('delivred', 'id');
await sandbox.trigger('delivered');
await sandbox.trigger('wallet-funded', { cents: 5 });
await sandbox.trigger('failed', 'id', { errorType: 'nothing' });
await sandbox.restore(1);
console.log(sandbox.requests()[0]?.url, sandbox.exampleOrder.idempotency_key.length);
console.log(sandbox.deliveries()[0]?.body.statsu);
`;
    const said = project.compile({ 'misspelt.ts': source });
    const lines = [...said.matchAll(/^misspelt\.ts\((\d+),/gm)].map(([, line]) => Number(line));
    expect([...new Set(lines)], said).toEqual([3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  });

  test('ten sandboxes side by side do not disturb each other', () => {
    const { code, stdout, stderr } = script(`import { startSandbox } from 'errand/sandbox';
${play}
const starting = Array.from({ length: 10 }, (_, index) =>
  startSandbox({ clock: new Date(Date.UTC(2026, 0, 1 + index)), seed: index, ...(index % 2 && { port: false }) }));
const sandboxes = await Promise.all(starting);
const together = await Promise.all(sandboxes.map(play));
const counts = sandboxes.map((sandbox) => sandbox.requests().length);
const foreign = await sandboxes[0].fetch('/orders', { headers: { authorization: 'Bearer ' + sandboxes[1].apiKey } });
await Promise.all(sandboxes.map((sandbox) => sandbox.close()));
const alone = [];
for (let index = 0; index < 10; index += 1) {
  const sandbox = await startSandbox({ clock: new Date(Date.UTC(2026, 0, 1 + index)), seed: index, port: false });
  alone.push(await play(sandbox));
  await sandbox.close();
}
console.log(JSON.stringify({ together, alone, counts, foreign: foreign.status }));
`);
    expect([code, stderr]).toEqual([0, '']);
    const { together, alone, counts, foreign } = JSON.parse(stdout);
    expect(together).toEqual(alone);
    expect(new Set(together.map(([id]: string[]) => id)).size).toBe(10);
    expect(together.map(([, status]: string[]) => status)).toEqual(Array(10).fill('order_placed'));
    expect([counts, foreign]).toEqual([Array(10).fill(2), 401]);
  });

  test('a closed one leaves no handle', () => {
    const { code, stdout, stderr } = script(`import { createServer } from 'node:http';
import { startSandbox } from 'errand/sandbox';
${play}
const receiver = createServer((request, response) => response.end()).listen(0, '127.0.0.1');
await new Promise((resolve) => receiver.once('listening', resolve));
// Node opens them when they are first read, by its own modules too.
void [process.stdout, process.stderr];
const before = process.getActiveResourcesInfo().toSorted();
for (const port of [0, false]) {
  const sandbox = await startSandbox({ port, clock: 'frozen', faults: ['delay=10ms@/orders'] });
  const headers = { authorization: 'Bearer ' + sandbox.apiKey, 'content-type': 'application/json' };
  const body = JSON.stringify({ webhook_url: 'http://127.0.0.1:' + receiver.address().port });
  await sandbox.fetch('/users', { method: 'POST', headers, body });
  await play(sandbox);
  if (port === 0) await (await fetch(sandbox.baseUrl + '/orders', { headers })).text();
  await sandbox.restore(await sandbox.snapshot());
  await sandbox.close();
}
receiver.closeAllConnections();
await fetch('data:,').then((response) => response.text());
const left = process.getActiveResourcesInfo().toSorted();
console.log(JSON.stringify({ before, left }));
receiver.close();
`);
    expect([code, stderr]).toEqual([0, '']);
    const { before, left }: { before: string[]; left: string[] } = JSON.parse(stdout);
    expect(left.filter((name) => !/^(?:CloseReq|FSReq|Immediate)/.test(name))).toEqual(
      before.filter((name) => !/^(?:CloseReq|FSReq|Immediate)/.test(name)),
    );
  });

  test('one that nobody closes does not keep its process alive', () => {
    const { code, stdout, stderr } = script(`import { startSandbox } from 'errand/sandbox';
const sandbox = await startSandbox();
const headers = { authorization: 'Bearer ' + sandbox.apiKey };
await (await fetch(sandbox.baseUrl + '/orders', { headers })).text();
process.on('exit', () => console.log('ended'));
`);
    expect([code, stdout, stderr]).toEqual([0, 'ended\n', '']);
  });

  test('responds while the fake timers of a runner stand still', () => {
    const source = `import { expect, vi } from 'vitest';
import { test } from 'errand/vitest';

test.override({ sandboxOptions: { clock: Date } });
test('follows the fake date', async ({ sandbox }) => {
  vi.useFakeTimers();
  const headers = { authorization: \`Bearer \${sandbox.apiKey}\`, 'content-type': 'application/json' };
  const body = JSON.stringify(sandbox.exampleOrder);
  expect((await sandbox.fetch('/orders', { method: 'POST', headers, body })).status).toBe(201);
  vi.setSystemTime(Date.now() + 86_400_000);
  const { orders } = await (await sandbox.fetch('/orders', { headers })).json();
  expect(orders.map(({ status }: { status: string }) => status)).toEqual(['order_placed']);
  await sandbox.advance('1d');
  vi.useRealTimers();
});
let before = '';
test('is another for each test', ({ sandbox }) => {
  before = sandbox.apiKey;
});
test('and not that of the test before', ({ sandbox }) => {
  expect(before).not.toBe('');
  expect(sandbox.apiKey).not.toBe(before);
  expect(sandbox.requests()).toEqual([]);
});
`;
    expect(project.compile({ 'fixture.test.ts': source })).toBe('');
    // Tests in a VM context have separate globals, as in Jest.
    for (const pool of ['forks', 'vmForks']) {
      const { code, stdout, stderr } = project.run('node_modules/vitest/vitest.mjs', {}, [
        'run',
        'fixture.test.js',
        '--pool',
        pool,
      ]);
      expect([code, stderr], stdout).toEqual([0, '']);
      expect(stdout).toMatch(/Tests.*3 passed/);
    }
  });
});
