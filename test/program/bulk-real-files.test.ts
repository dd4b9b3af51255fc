import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Terminal, unfolded } from '../terminal/terminal.ts';
import { errand } from './run.ts';
import { makeWorkspace, type Workspace } from './workspace.ts';

let workspace: Workspace;
beforeEach(() => {
  workspace = makeWorkspace({ NO_COLOR: '1' });
});
afterEach(() => workspace.remove());

/** A file as shops and spreadsheets write them. */
function real(name: string): string {
  copyFileSync(join(import.meta.dirname, '../bulk/real-files', name), join(workspace.folder, name));
  return name;
}

/** What a person at a terminal sees of a check, and how it ends. */
async function onTerminal(name: string, ...more: string[]): Promise<{ code: number | null; text: string }> {
  const args = ['bulk', 'validate', name, '--local', ...more];
  const terminal = new Terminal(workspace, 'errand', args, { columns: 200 });
  try {
    const code = await terminal.ended();
    return { code, text: unfolded(terminal.text) };
  } finally {
    terminal.close();
  }
}

const upload = (name: string, ...more: string[]) =>
  errand(workspace, ['bulk', 'upload', name, '--skip-invalid', '-o', 'json', ...more]);

describe('rows that end in several ways', () => {
  test.each([
    ['29-mixed-eol.csv', 4],
    ['35c-append-100-lf.csv', 103],
  ])('are all read and ordered: %s', { timeout: 120_000 }, async (name, rows) => {
    real(name);
    expect(await onTerminal(name)).toMatchObject({
      code: 0,
      text: expect.stringContaining(`${rows} rows, all valid`),
    });
    await errand(workspace, ['sandbox', 'trigger', 'wallet-funded', '--amount-cents', '1000000']);
    const sent = await upload(name);
    expect(sent).toMatchObject({ code: 0 });
    expect(JSON.parse(sent.stdout)).toMatchObject([{ rows }]);
  });
});

test('two URLs in one cell are an error with both, and nothing of it is ordered', {
  timeout: 120_000,
}, async () => {
  const name = real('20b-two-urls-one-cell.csv');
  const [one, other] = ['headphones-standard/4271704384"', 'tea-20-bags/5565436800"'];
  const seen = await onTerminal(name);
  expect(seen).toMatchObject({ code: 7, text: expect.stringContaining('0 of 5 rows valid') });
  // A table may break a long URL.
  const text = seen.text.replace(/\s/g, '');
  for (const url of [one, other]) expect(text).toContain(url);
  const { code, stdout } = await errand(workspace, ['bulk', 'validate', name, '--local', '-o', 'json']);
  expect(code).toBe(7);
  const issues: { column: string; message: string }[] = JSON.parse(stdout);
  expect(issues.map(({ column }) => column)).toEqual(Array(5).fill('product_url'));
  for (const { message } of issues) {
    expect(message).toMatch(/^holds 2 URLs: .*; separate products by \|$/);
    for (const url of [one, other]) expect(message).toContain(url);
  }
  expect(await upload(name)).toMatchObject({ code: 7 });
});
