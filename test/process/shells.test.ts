import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isCurrentScript } from '../../src/cli/completion/scripts.ts';
import { blocksOf, readme } from '../documents/markdown.ts';
import { errand, shell } from '../support/run.ts';
import { Terminal } from '../support/terminal.ts';
import { installedFile, makeWorkspace, type Workspace } from '../support/workspace.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** In CI a missing shell fails the tests. */
const mustRun = process.env.ERRAND_CI === '1';

interface Shell {
  readonly args: readonly string[];
  /** Loads the completion script as errand's help instructs. */
  readonly load: readonly string[];
  /** Replaces errand with a function that records its arguments. */
  readonly record: string;
}

const record = 'errand() { printf \'%s\\0\' "$@" > .typed; mv .typed typed; }';

const shells = {
  bash: {
    args: ['--norc', '--noprofile', '-i'],
    load: ['source <(errand completion bash)'],
    record,
  },
  zsh: {
    args: ['-f', '-i'],
    load: ['autoload -Uz compinit; compinit -u -D', 'source <(errand completion zsh)'],
    record,
  },
  fish: {
    args: ['--no-config', '-i'],
    load: ['errand completion fish >~/errand.fish; source ~/errand.fish'],
    record: "function errand; printf '%s\\0' $argv > .typed; mv .typed typed; end",
  },
} as const satisfies Record<string, Shell>;

const hostile = [
  '$(touch x)',
  '`touch x`',
  "it's",
  'say "hi"',
  'two words',
  'a\nb',
  '-dash',
  'a;touch x',
  'a&touch x',
  'a|touch x',
  'a>x',
  'back\\slash',
  '~tilde',
  'gl*b?[c]',
  'bang!x',
  'x:y=z@w',
  'é€😀',
  '#hash',
  '{a,b}',
  '$HOME',
  '%n(e:"touch x":)',
];

describe.each(['bash', 'zsh', 'fish'] as const)('in a real %s', (name) => {
  const runs = mustRun || installedFile(name) !== undefined;
  let workspace: Workspace;
  let terminal: Terminal;

  beforeEach(async () => {
    workspace = makeWorkspace({ PS1: '> ', TERM: 'xterm', HISTFILE: '/dev/null', fish_history: '' });
    mkdirSync(join(workspace.folder, '.config'));
    if (!runs) return;
    const { args, load, record } = shells[name];
    terminal = new Terminal(workspace, name, args);
    for (const line of [...load, record]) terminal.type(`${line}\r`);
    terminal.type('errand ready\r');
    await ran();
  });

  afterEach(() => {
    if (runs) terminal.close();
    workspace.remove();
  });

  function save(names: readonly string[]): void {
    const addresses = Object.fromEntries(names.map((it) => [it, {}]));
    writeFileSync(join(workspace.folder, '.config', 'config.json'), JSON.stringify({ addresses }));
  }

  /** Types a line with its TABs and Enter, and returns the words it expands to. */
  function typed(line: string): Promise<string[]> {
    terminal.type(`${line}\r`);
    return ran();
  }

  /** Waits for the recorded errand call and returns its arguments. */
  async function ran(): Promise<string[]> {
    const file = join(workspace.folder, 'typed');
    await expect
      .poll(() => existsSync(file), { message: `nothing was run; the terminal shows:\n${terminal.text}` })
      .toBe(true);
    const text = readFileSync(file, 'utf8');
    rmSync(file);
    return text.split('\0').slice(0, -1);
  }

  test.skipIf(!runs)('commands, flags and their values complete', async () => {
    expect(await typed('errand ord\tli\t--stat\twait\t')).toEqual(['order', 'list', '--status', 'waiting']);
    expect(await typed('errand order list --status=wait\t')).toEqual(['order', 'list', '--status=waiting']);
    expect(await typed('errand -o js\twal\t')).toEqual(['-o', 'json', 'wallet']);
    expect(await typed('errand order create --best-effort gift,it\t')).toEqual([
      'order',
      'create',
      '--best-effort',
      'gift,items',
    ]);
  });

  test.skipIf(!runs)('several matches are listed with what each of them does', async () => {
    terminal.type('errand order journal \t\t');
    await terminal.shows(/resume +.*Settle orders in doubt/);
    await terminal.shows(/forget +.*Drop an order in doubt/);
  });

  test.skipIf(!runs)('files complete where a file is expected, also after =', async () => {
    writeFileSync(join(workspace.folder, 'order one.json'), '{}');
    expect(await typed('errand order create --file ord\t')).toEqual([
      'order',
      'create',
      '--file',
      'order one.json',
    ]);
    expect(await typed('errand order create --file=ord\t')).toEqual([
      'order',
      'create',
      '--file=order one.json',
    ]);
  });

  test.skipIf(!runs)('a word of the line is never run', async () => {
    save(['home']);
    terminal.type("errand --profile '$(touch x)' address show ho\t\u0015");
    terminal.type('errand --profile $(touch y) address show ho\t\u0015');
    expect(await typed('errand address show ho\t')).toEqual(['address', 'show', 'home']);
    expect(readdirSync(workspace.folder)).not.toContain('x');
    expect(readdirSync(workspace.folder)).not.toContain('y');
  });

  test.skipIf(!runs)('a value begun within quotes is ended within them', async () => {
    save(['two words']);
    expect(await typed("errand address show 'two w\t")).toEqual(['address', 'show', 'two words']);
    expect(await typed('errand address show "two w\t')).toEqual(['address', 'show', 'two words']);
    expect(await typed('errand address show two\\ w\t')).toEqual(['address', 'show', 'two words']);
  });

  test.skipIf(!runs)('hostile names complete as the text that they are', async () => {
    for (const address of hostile) {
      save([address]);
      expect(await typed('errand address show \t'), terminal.text.slice(-300)).toEqual([
        'address',
        'show',
        address,
      ]);
    }
    expect(readdirSync(workspace.folder)).not.toContain('x');
  });

  describe('without errand on the PATH', () => {
    /** Types lines in a shell that finds the program by its path alone. @param folder leads to the checkout. */
    async function completes(folder: string, lines: readonly string[]): Promise<void> {
      symlinkSync(root, join(workspace.folder, folder));
      rmSync(join(workspace.folder, '.bin/errand'));
      workspace.environment.CHECKOUT = join(workspace.folder, folder);
      const shell = new Terminal(workspace, name, shells[name].args);
      try {
        for (const line of lines) shell.type(`${line}\r`);
        shell.type('errand order journal \t\t');
        await shell.shows(/resume +.*Settle orders in doubt/);
      } finally {
        shell.close();
      }
      expect(readdirSync(workspace.folder)).not.toContain('x');
    }

    test.skipIf(!runs)('the alias of the README completes', async () => {
      const [alias = ''] = blocksOf(readme, 'sh');
      await completes('two words $HOME', [
        'cd "$CHECKOUT"',
        alias.trimEnd(),
        `cd '${workspace.folder}'`,
        ...shells[name].load,
      ]);
    });

    test.skipIf(!runs)('a path is never more than text', async () => {
      const load = shells[name].load.map((line) =>
        line.replace('errand completion', '"$CHECKOUT"/bin/errand.js completion'),
      );
      await completes('it\'s "a" $(touch x) `touch x` \\ \\\' $& #', load);
    });
  });
});

describe('the scripts', () => {
  test.skipIf(!mustRun && installedFile('shellcheck') === undefined)(
    'of bash passes shellcheck',
    async () => {
      const workspace = makeWorkspace();
      try {
        expect(await shell(workspace, `errand completion bash | shellcheck -`)).toMatchObject({
          code: 0,
          stdout: '',
        });
      } finally {
        workspace.remove();
      }
    },
  );

  test.each(['bash', 'zsh', 'fish', 'powershell'] as const)(
    'of %s calls the program that printed it, by its path',
    async (name) => {
      const workspace = makeWorkspace();
      try {
        const { stdout } = await errand(workspace, ['completion', name]);
        expect(stdout).toContain(join(workspace.folder, '.bin/errand'));
        expect(isCurrentScript(name, stdout)).toBe(true);
        expect(isCurrentScript(name, `${stdout}# more`)).toBe(false);
      } finally {
        workspace.remove();
      }
    },
  );
});
