import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { hasPostgres, useServer } from '../support/postgres.ts';
import { refill, refills, timeoutsIn } from '../support/refill.ts';
import { errand, shell } from '../support/run.ts';
import { makeWorkspace, prefer, type Workspace } from '../support/workspace.ts';
import { runInTerminal, steady } from './in-terminal.ts';
import { blocksOf, pages, readme } from './markdown.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Writes the current output into the README, for review as a diff. */
const updates = refills('UPDATE_DOCUMENTS');

async function inWorkspace(run: (workspace: Workspace) => Promise<void>): Promise<void> {
  const workspace = makeWorkspace({ TERM: 'xterm-256color', NO_COLOR: '1' });
  try {
    prefer(workspace, { 'sandbox-speed': 20 });
    await run(workspace);
  } finally {
    workspace.remove();
  }
}

describe('the README', () => {
  test('begins with exactly two commands, each whole on a fresh machine', () => {
    const first = [...readme.text.matchAll(/```\n(.*?)\n```/gs)].slice(0, 2).map(([, line]) => line);
    expect(first).toEqual(['npm ci && npx errand quickstart', 'npm ci && npm test']);
  });

  test('puts the program on the PATH of a terminal with one line', async () => {
    const [line = ''] = blocksOf(readme, 'sh');
    await inWorkspace(async (workspace) => {
      const typed = `shopt -s expand_aliases; cd '${root}'\n${line}cd /; PATH=$(echo "$PATH" | cut -d: -f2-)\nerrand --version`;
      const { code, stdout } = await shell(workspace, typed);
      expect([code, stdout]).toEqual([0, expect.stringMatching(/^\d+\.\d+\.\d+\n$/)]);
    });
  });

  test('leads to commands that do not build the program again', async () => {
    const built = (): number => statSync(`${root}/dist/main.cjs`).mtimeMs;
    await inWorkspace(async (workspace) => {
      const before = built();
      expect(await shell(workspace, `cd '${root}' && npx errand --version`)).toMatchObject({ code: 0 });
      expect(built()).toBe(before);
    });
  });

  test('shows what its lines print, in order, after the quickstart', async (context) => {
    let text = readme.text;
    await inWorkspace(async (workspace) => {
      expect((await errand(workspace, ['quickstart'])).code).toBe(0);
      for (const block of blocksOf(readme, 'console')) {
        const lines = [...block.matchAll(/^\$ (.*)$/gm)].map(([, line = '']) => line);
        const shown = await runInTerminal(workspace, lines);
        expect(
          shown.map(({ code }) => code),
          JSON.stringify(shown, null, 1),
        ).toEqual(lines.map(() => 0));
        const now = `${shown.map((one, index) => [`$ ${lines[index]}`, ...one.lines].join('\n')).join('\n\n')}\n`;
        // Keep the old text if only run-specific values differ.
        const isSame = steady(block) === steady(now);
        if (updates && !isSame) text = text.replace(block, () => now);
        else expect(steady(block)).toBe(steady(now));
      }
    });
    expect(timeoutsIn(text)).toEqual([]);
    if (updates) refill(context, readme.file, text);
  });
});

describe('every page of the documents', () => {
  const server = useServer();
  /** This page needs a shared database. */
  const isOfTeam = ({ name }: { readonly name: string }): boolean => name === 'docs/team.md';

  test.each(pages.filter((page) => hasPostgres || !isOfTeam(page)))(
    '$name: every line of its sh blocks runs as it stands, in order',
    async (page) => {
      await inWorkspace(async (workspace) => {
        if (isOfTeam(page)) workspace.environment.ERRAND_DATABASE_URL = (await server().newDatabase()).url;
        for (const block of blocksOf(page, 'sh')) {
          const { code, stdout, stderr } = await shell(workspace, `set -e\n${block}`);
          expect(code, `${block}\n${stdout}${stderr}`).toBe(0);
        }
      });
    },
  );

  // In an update run, deleted pictures are only regenerated at the end.
  test.skipIf(updates).each([readme, ...pages])('$name leads to files that are there', ({ file, text }) => {
    const targets = [...text.matchAll(/\]\(([^)#:]+)(?:#[\w-]+)?\)|(?:src|srcset)="([^"]+)"/g)].map(
      ([, link, picture]) => link ?? picture ?? '',
    );
    const folder = dirname(fileURLToPath(file));
    expect(targets.filter((target) => !existsSync(join(folder, target)))).toEqual([]);
  });
});
