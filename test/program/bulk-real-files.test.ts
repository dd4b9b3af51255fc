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
