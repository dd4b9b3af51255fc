import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { shell } from '../support/run.ts';
import type { Terminal } from '../support/terminal.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';
import { type LiveService, openLiveService } from './live.ts';
import { useTerminals } from './terminals.ts';

let service: LiveService;
let workspace: Workspace;

beforeEach(async () => {
  service = await openLiveService();
  workspace = makeWorkspace({ ERRAND_BASE_URL: service.baseUrl, ERRAND_API_KEY: service.key });
});
afterEach(async () => {
  workspace.remove();
  await service.stop();
});
const terminalOf = useTerminals(() => workspace);

const headings = 'product_url,max_price_cents,name,address,city,state,zip,phone';
const line = (cents: number, street = '1 Main St') =>
  `${service.sandbox.product('test-success')},${cents},Ada Byron,${street},Austin,TX,78701,5125550100`;
const csv = (...lines: string[]): string => [headings, ...lines, ''].join('\n');
const write = (text: string): void => writeFileSync(join(workspace.folder, 'orders.csv'), text);

function upload(...more: string[]): Terminal {
  return terminalOf('errand', ['bulk', 'upload', 'orders.csv', ...more]);
}

const uploaded = () =>
  service.sent
    .filter(({ method, target }) => method === 'POST' && target === '/orders/bulk')
    .flatMap(({ body }) => JSON.parse(body).rows);

/** Copies of uploads left in the state directory. */
const keptCopies = (): string[] =>
  readdirSync(join(workspace.folder, '.state')).filter((name) => name.startsWith('upload-'));

test('what was shown is what is sent, whatever becomes of the file while the question waits', async () => {
  write(csv(line(5000)));
  const terminal = upload();
  await terminal.shows('(y/N)');
  expect(terminal.text).toContain('at most $51.00');
  expect(keptCopies()).toEqual([]);
  write(csv(line(900_000, '666 Elsewhere')));
  terminal.type('y\r');
  expect(await terminal.ended()).toBe(0);
  expect(uploaded()).toMatchObject([{ max_price: '5000', address: '1 Main St' }]);
});

test('the file may be gone by the time of the response', async () => {
  write(csv(line(5000), line(5000, '2 Main St'), line(5000, '3 Main St')));
  const terminal = upload('--batch-size', '1');
  await terminal.shows('(y/N)');
  write('');
  terminal.type('y\r');
  expect(await terminal.ended()).toBe(0);
  expect(
    uploaded()
      .map(({ address }) => address)
      .sort(),
  ).toEqual(['1 Main St', '2 Main St', '3 Main St']);
});

test('nothing of the file stays behind, even after a kill', async () => {
  write(csv(line(5000)));
  const terminal = upload();
  await terminal.shows('(y/N)');
  terminal.close();
  await terminal.ended();
  expect(keptCopies()).toEqual([]);
  expect(uploaded()).toEqual([]);
});

test.skipIf(process.platform !== 'linux')('a copy that was changed on the disk is not sent', async () => {
  write(csv(line(5000)));
  const terminal = upload();
  await terminal.shows('(y/N)');
  for (const copy of copiesOf(terminal.pid)) {
    const file = await open(copy, 'r+');
    const text = readFileSync(copy, 'utf8');
    await file.write(text.replace('5000', '9999'), 0);
    await file.close();
  }
  terminal.type('y\r');
  expect(await terminal.ended()).toBe(1);
  expect(terminal.text).toContain('the copy of the file that was checked has changed on the disk');
  expect(uploaded()).toEqual([]);
});

/** Descriptors of a process's unlinked copies: one of the file, one of its validated rows. */
function copiesOf(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  const found = readdirSync(folder).filter((name) => {
    try {
      return readlinkSync(join(folder, name)).includes('/upload-');
    } catch {
      return false;
    }
  });
  expect(found).toHaveLength(2);
  return found.map((name) => join(folder, name));
}

test.each([
  ['cat orders.csv | errand bulk upload - --yes -o json'],
  ['errand bulk upload <(cat orders.csv) --yes -o json'],
])('what comes through a pipe is sent as it was checked: %s', async (command) => {
  write(csv(line(5000), line(4000, '2 Main St')));
  const ended = await shell(workspace, command);
  expect(ended.code, ended.stderr).toBe(0);
  expect(uploaded().map(({ max_price }) => max_price)).toEqual(['5000', '4000']);
  expect(keptCopies()).toEqual([]);
});

test('bulk retry shows what it may spend before it asks', async () => {
  const out = service.sandbox.product('test-out-of-stock');
  write(csv(line(5000).replace(/^[^,]+/, out), line(4000, '2 Main St').replace(/^[^,]+/, out)));
  const id = (await shell(workspace, 'errand bulk upload orders.csv --yes -o id')).stdout.trim();
  await expect
    .poll(async () => {
      service.sandbox.pass(60_000);
      return (await shell(workspace, `errand bulk get ${id} -o json --query 'rows[].order_status'`)).stdout;
    })
    .toMatch(/order_failed.*order_failed/s);
  const terminal = terminalOf('errand', ['bulk', 'retry', id]);
  await terminal.shows('(y/N)');
  expect(terminal.text).toContain('at most $90.00, without fees');
  const before = uploaded().length;
  terminal.type('y\r');
  expect(await terminal.ended()).toBe(0);
  expect(uploaded()).toHaveLength(before + 2);
});

test('to a person the same error is one line, however many rows have it', async () => {
  write(csv(...Array.from({ length: 2000 }, (_, at) => line(5000, `${at} Main St`).replace('78701', '787'))));
  const terminal = terminalOf('errand', ['bulk', 'validate', 'orders.csv', '--errors', 'e.csv']);
  expect(await terminal.ended()).toBe(7);
  const screen = terminal.text;
  expect(screen).toMatch(/2, 3, 4 … \(2,000 rows\) +postal_code +787 /);
  expect(screen).toContain('0 of 2,000 rows valid');
  expect(screen.split('\n').length).toBeLessThan(10);
  expect(readFileSync(join(workspace.folder, 'e.csv'), 'utf8').split('\n')).toHaveLength(2002);
});

test('what stands out is told above the question, once', async () => {
  write(csv(line(5000), line(5000), line(5200, '2 Main St'), line(50_000, '3 Main St')));
  const terminal = upload();
  await terminal.shows('(y/N)');
  const text = terminal.text.slice(0, terminal.text.indexOf('(y/N)'));
  expect(text).toMatch(/row 5: its ceiling of \$500\.00 is far from the others/);
  expect(text).toMatch(/1 row: same product and recipient as an earlier row; row 3 as row 2/);
  terminal.type('y\r');
  expect(await terminal.ended()).toBe(0);
  expect(terminal.text.match(/far from the others/g)).toHaveLength(1);
  expect(uploaded()).toHaveLength(4);
});
