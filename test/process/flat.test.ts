import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { copyOrders } from '../support/copy-orders.ts';
import { type Gate, openGate } from '../support/gate.ts';
import { untilIdle } from '../support/idle.ts';
import { begin, errand } from '../support/run.ts';
import { TestService } from '../support/service.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';

const orderCount = 20_000;
const pageSize = 500;
/** Node alone takes about 60 MB; one page or file chunk adds to that, but a longer list must not. */
const mostMegabytes = 260;

let workspace: Workspace;
let service: TestService;
let gate: Gate;
let peakFile: string;
beforeAll(async () => {
  workspace = makeWorkspace();
  service = await TestService.start({ file: join(workspace.folder, 'service.db') });
  await service.order('test-never');
  await copyOrders(join(workspace.folder, 'service.db'), orderCount);
  peakFile = join(workspace.folder, 'peak');
  const peak = join(workspace.folder, 'peak.cjs');
  writeFileSync(
    peak,
    `process.on('exit', () => require('node:fs').writeFileSync(${JSON.stringify(peakFile)}, String(process.resourceUsage().maxRSS)));`,
  );
  gate = await openGate(service.baseUrl);
  Object.assign(workspace.environment, {
    ERRAND_BASE_URL: gate.baseUrl,
    ERRAND_API_KEY: service.key,
    NODE_OPTIONS: `--require ${peak}`,
  });
});
afterAll(async () => {
  gate.close();
  await service.stop();
  workspace.remove();
});

const list = ['order', 'list', '--all', '-o', 'ndjson'];
const megabytes = (): number => Number(readFileSync(peakFile, 'utf8')) / 1024;
const pages = (): string[] => gate.targets.filter((target) => target.startsWith('/orders?'));

function start(): ReturnType<typeof begin> {
  gate.targets.length = 0;
  return begin(workspace, 'errand', list);
}

test('the first row is out before the last page is there', async () => {
  let seen = () => {};
  const isSeen = new Promise<void>((resolve) => {
    seen = resolve;
  });
  gate.hold = (target) => (target.includes(`offset=${orderCount - pageSize}`) ? isSeen : undefined);
  const child = start();
  let lines = 0;
  for await (const chunk of child.stdout) {
    lines += String(chunk).split('\n').length - 1;
    seen();
  }
  expect(lines).toBe(orderCount);
  expect(pages()).toHaveLength(orderCount / pageSize);
});

test('a reader of stdout that stands still stops the requests', async () => {
  gate.hold = () => undefined;
  const child = start();
  await expect.poll(() => pages().length).toBeGreaterThanOrEqual(3);
  await untilIdle(child.pid);
  const whileStill = pages().length;
  let lines = 0;
  for await (const chunk of child.stdout) lines += String(chunk).split('\n').length - 1;
  expect(lines).toBe(orderCount);
  // What fits into a pipe, plus two prefetched pages.
  expect(whileStill).toBeLessThan(8);
  expect(pages()).toHaveLength(orderCount / pageSize);
});

test('a list is as long as it likes: memory stays flat', async () => {
  gate.hold = () => undefined;
  expect(await errand(workspace, [...list, '--utc'])).toMatchObject({ code: 0 });
  expect(megabytes()).toBeLessThan(mostMegabytes);
});

test('a CSV is as long as it likes: memory stays flat', async () => {
  const file = join(workspace.folder, 'orders.csv');
  writeFileSync(
    file,
    'product_url,max_price_cents,name,address_line1,city,state,postal_code,country,phone_number\n',
  );
  const row = `${service.product('test-success')},5000,Ada Byron,1 Main St,Austin,TX,78701,US,5125550100\n`;
  for (let written = 0; written < 200_000; written += 10_000) appendFileSync(file, row.repeat(10_000));
  expect(await errand(workspace, ['bulk', 'validate', '--local', file])).toMatchObject({ code: 0 });
  expect(megabytes()).toBeLessThan(mostMegabytes);
});
