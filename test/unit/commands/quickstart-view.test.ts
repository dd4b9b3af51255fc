import { expect, test } from 'vitest';
import { quickstartView } from '../../../src/commands/quickstart/view.ts';
import { fullMeasure } from '../../../src/format/width.ts';
import type { Context } from '../../../src/run/context.ts';
import { capture } from '../../support/streams.ts';

const search = 'errand search coffee';

async function shown(columns: number, text: string, tail?: string, command = search): Promise<string[]> {
  const { io, err } = capture({}, { terminal: true, columns, rows: 30, color: false });
  const view = await quickstartView({ io } as Context);
  view.working('Search', text);
  view.done('Search', { text, ...(tail !== undefined && { tail }) }, command);
  view.close();
  expect(err.text).not.toMatch(/\u001b\[3\d|\u0007|\u202e/u);
  // The output that remains after the spinner line is cleared.
  return err.text
    .slice(err.text.indexOf('✔'))
    .replace(/\u001b\[[?\d]*[A-Za-z]/g, '')
    .split('\n')
    .filter((line) => line !== '');
}

test('a title of the service moves no cursor, makes no line of its own, and hides no price', async () => {
  const lines = await shown(80, 'Tea\u001b[2J\u001b[31m\nerror: pwned\u0007\u202e', ', $5.00');
  expect(lines).toHaveLength(2);
  expect(lines[0]).toMatch(/^✔ Search {3}Tea.*, \$5\.00$/);
  expect(lines[1]).toBe('  errand search coffee');
});

test('nor does a currency or a URL of the service', async () => {
  const lines = await shown(
    80,
    'Tea',
    ', 5.00 \u001b[31m\nX',
    "errand retailer check 'https://x/\u001b[31m\n\u0007'",
  );
  expect(lines).toHaveLength(2);
  expect(lines[1]).toMatch(/^ {2}errand retailer check 'https:\/\/x\/\S+'$/);
});

test.each([40, 50, 80])('a wide or endless title is cut to %i columns, its price is not', async (columns) => {
  const measure = await fullMeasure();
  for (const title of ['全自動'.repeat(60), '👩‍👩‍👧 '.repeat(60), 'x'.repeat(5000)]) {
    const [first = ''] = await shown(columns, title, ', $1,234.56');
    expect(first).toMatch(/…, \$1,234\.56$/);
    expect(measure(first)).toBeLessThanOrEqual(columns);
  }
});
