import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Screen } from '../support/screen.ts';
import { Terminal } from '../support/terminal.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';

let workspace: Workspace;
let terminal: Terminal;

beforeEach(() => {
  workspace = makeWorkspace();
  const row = (index: number) =>
    `https://x.example/${index},${index % 7000 === 0 ? 'free' : '5000'},Ada Byron,1 Main St,Austin,TX,78701,5125550100`;
  const headings = 'product_url,max_price_cents,name,address,city,state,zip,phone';
  const rows = Array.from({ length: 30_000 }, (_, index) => row(index));
  writeFileSync(join(workspace.folder, 'orders.csv'), [headings, ...rows, ''].join('\n'));
});
afterEach(() => {
  terminal.close();
  workspace.remove();
});

function lines(): string[] {
  const screen = new Screen(120, 60);
  screen.write(terminal.raw.replaceAll('\r\n', '\n'));
  return screen.lines();
}

test('a bar goes before an error is printed, and comes back below it', async () => {
  terminal = new Terminal(workspace, 'errand', ['bulk', 'upload', 'orders.csv'], { columns: 120, rows: 60 });
  expect(await terminal.ended()).toBe(7);
  expect(terminal.text).toContain('validating');
  const shown = lines().filter((line) => line.includes('free'));
  expect(shown).toHaveLength(1);
  expect(shown[0]).toMatch(/^5 rows: max_price_cents "free" takes an amount/);
  expect(lines().join('\n')).not.toContain('validating');
});

test.each(['table', 'json', 'ndjson', 'csv'])(
  'what goes to stdout as %s stands in lines of its own, too',
  async (format) => {
    terminal = new Terminal(
      workspace,
      'errand',
      ['bulk', 'validate', 'orders.csv', '--local', '-o', format],
      {
        columns: 120,
        rows: 60,
      },
    );
    expect(await terminal.ended()).toBe(7);
    // JSON output is a single array still being written, so the bar is not shown.
    if (format !== 'json') expect(terminal.text).toContain('validating');
    expect(lines().join('\n')).not.toContain('validating');
    // A table merges the same error of all rows into one line.
    expect(terminal.text.match(/not \\?"+free/g)).toHaveLength(format === 'table' ? 1 : 5);
  },
);
