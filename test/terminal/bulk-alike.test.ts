import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { hangsAfterMs } from '../support/limits.ts';
import { errand } from '../support/run.ts';
import { type Terminal, unfolded } from '../support/terminal.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';
import { useTerminals } from './terminals.ts';

const columns = ['Item URL=product_url', 'Limit USD=max_price', 'Ship To Name=name', 'Pieces=quantity'];
const places = ['Street=address_line1', 'City=city', 'State=state', 'ZIP=postal_code', 'Country=country'];
const maps = [...columns, ...places.map((place) => `Ship To ${place}`)].flatMap((map) => ['--map', map]);
const costCentre = ['--map', 'Cost Centre=metadata.cost_centre'];

let workspace: Workspace;
let lines: readonly string[];
beforeEach(async () => {
  workspace = makeWorkspace({ NO_COLOR: '1' });
  const requisitions = new URL('../commands/bulk/real-files/requisitions.csv', import.meta.url);
  // The sandbox refuses two of its rows, which then are new.
  lines = readFileSync(requisitions, 'utf8')
    .split(/\r?\n/)
    .filter((line) => line !== '' && !line.includes('127.0.0.1'));
  writeFileSync(join(workspace.folder, 'tiny.csv'), `${lines.join('\n')}\n`);
  await errand(workspace, ['sandbox', 'trigger', 'wallet-funded', '--amount', '$20,000']);
});
afterEach(() => {
  workspace.remove();
});
const terminalOf = useTerminals(() => workspace);

function open(...args: readonly string[]): Terminal {
  return terminalOf('errand', ['bulk', 'upload', ...args], { columns: 200 });
}

/** Waits until the rows of all batches have become orders, and for no more of them. */
const orders = (count: number): Promise<void> =>
  vi.waitFor(
    async () => {
      const { stdout } = await errand(workspace, ['bulk', 'list', '-o', 'json']);
      const batches: { row_count: number; placed_count: number }[] = JSON.parse(stdout);
      const sum = (counts: readonly number[]): number => counts.reduce((all, one) => all + one, 0);
      expect(sum(batches.map((batch) => batch.row_count))).toBe(count);
      expect(sum(batches.map((batch) => batch.placed_count))).toBe(count);
    },
    { timeout: hangsAfterMs, interval: 200 },
  );

test('a file that is mapped otherwise orders nothing again, in a terminal and in a pipe', async () => {
  const first = open('tiny.csv', ...maps);
  expect(await first.ended(), first.text).toBe(0);
  const again = open('tiny.csv', ...maps, ...costCentre);
  expect(await again.ended(), again.text).toBe(5);
  expect(unfolded(again.text)).toContain(
    'tiny.csv: 58 rows are like earlier orders: 58 of the upload tiny; row 2 as',
  );
  const piped = await errand(workspace, ['bulk', 'upload', 'tiny.csv', ...maps, ...costCentre]);
  expect(piped.code).toBe(5);
  expect(piped.stderr).toContain('58 rows are like earlier orders');
  await orders(58);
});

test('the other rows are ordered if that is the answer, and nothing is if it is not', async () => {
  writeFileSync(join(workspace.folder, 'some.csv'), `${lines.slice(0, 6).join('\n')}\n`);
  expect((await errand(workspace, ['bulk', 'upload', 'some.csv', ...maps])).code).toBe(0);
  const refused = open('tiny.csv', ...maps, ...costCentre);
  await refused.shows('Leave these rows out, and order the other 53?');
  expect(unfolded(refused.text)).toContain('5 rows are like earlier orders: 5 of the upload some; row 2 as');
  refused.type('n\r');
  expect(await refused.ended()).toBe(130);
  expect(refused.text).toContain('nothing was ordered');
  await orders(5);
  const agreed = open('tiny.csv', ...maps, ...costCentre);
  await agreed.shows('order the other 53?');
  agreed.type('y\r');
  expect(await agreed.ended(), agreed.text).toBe(0);
  expect(agreed.text).toContain('53 new; 5 left out');
  await orders(58);
});
