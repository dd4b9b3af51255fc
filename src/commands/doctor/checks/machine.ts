import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { completionScript, isCurrentScript } from '../../../cli/completion/scripts.ts';
import type { CompletionPlace } from '../../../config/completion-places.ts';
import { findProgram } from '../../../platform/programs.ts';
import { shellWord } from '../../../platform/shell.ts';
import type { Context } from '../../../run/context.ts';
import { loadPolicy } from '../../../spending/policy/load.ts';
import { type Check, type Finding, info, ok, problem, problemOf } from '../check.ts';

/** Reports problems found while reading the settings. */
const foundIn = (name: 'configuration' | 'permissions' | 'settings', well: string): Check => ({
  name,
  run({ context }) {
    const found = (context.diagnosis?.problems ?? []).filter(({ check }) => check === name);
    return found.length === 0 ? ok(well) : found.map(({ message, remedy }) => problem(message, remedy));
  },
});

export const configuration = foundIn(
  'configuration',
  'the configuration can be read, and every name in it is known',
);
export const permissions = foundIn('permissions', "errand's files are private to you");
export const settings = foundIn('settings', 'every flag, variable, profile and preference can be used');

export const program: Check = {
  name: 'program',
  run: ({ context: { version, diagnosis } }) => info(`errand ${version}, ${diagnosis?.runtime}`),
};

export const terminal: Check = {
  name: 'terminal',
  run({ context: { io, interactive, settings } }) {
    const { stdout } = io;
    const size = stdout.isTerminal ? `${stdout.columns()} columns` : 'no terminal on stdout';
    const features = [
      size,
      stdout.color ? 'colour' : 'no colour',
      ...(settings.dumbTerminal ? ['TERM=dumb'] : []),
    ];
    return info(`${features.join(', ')}; ${interactive.yes ? 'prompts' : `no prompts: ${interactive.why}`}`);
  },
};

export const policy: Check = {
  name: 'policy',
  async run({ context }) {
    try {
      const found = await loadPolicy(context);
      return found
        ? ok(
            `orders are held to ${found.file}${found.signer === undefined ? '' : `, signed by ${found.signer}`}`,
          )
        : info('no policy, so spending is not limited; `errand policy init` writes one');
    } catch (error) {
      return problemOf(error);
    }
  },
};

export const completion: Check = {
  name: 'completion',
  async run({ context }) {
    const places = context.diagnosis?.completionPlaces ?? [];
    const found = await Promise.all(places.map((place) => installedScript(context, place)));
    const findings = found.flat();
    if (findings.length > 0) return findings;
    return places.length > 0 ? printedScript(context) : info(noScript);
  },
};

const noScript = 'no script at the usual places; errand completion --help says how';

type TriedShell = CompletionPlace['shell'];

async function installedScript(context: Context, { shell, file }: CompletionPlace): Promise<Finding[]> {
  const script = textOf(file);
  if (script === undefined) return [];
  const remedy = `errand completion ${shell} > ${shellWord(file)}`;
  if (!isCurrentScript(shell, script)) return [problem(`${file} is of another version of errand`, remedy)];
  const result = await complete(context, shell, script);
  if (result === 'failed')
    return [problem(`${file} completes nothing: the program that it asks does not respond`, remedy)];
  return [ok(`${file} is that of this version${result === 'completed' ? ' and completes' : ''}`)];
}

/**
 * Tests a freshly generated script in the user's shell. The installed script cannot be tested, because the shell may
 * load it from any file.
 */
async function printedScript(context: Context): Promise<Finding> {
  const name = basename(context.environment.SHELL ?? '');
  const shell = triedShells.find((one) => one === name);
  if (shell === undefined) return info(noScript);
  const script = completionScript(shell, context.io.programFile);
  if ((await complete(context, shell, script)) !== 'failed') return info(noScript);
  return problem(
    `what errand completion ${shell} prints completes nothing: \`node\` is not on the PATH, or cannot start errand`,
    'Put the folder of node on the PATH.',
  );
}

/** Completes `errand order li` in a shell that loads no startup files and reads the script from stdin. */
const trials: Readonly<Record<TriedShell, readonly string[]>> = {
  bash: [
    '--norc',
    '--noprofile',
    '-c',
    `eval "$(cat)"; COMP_LINE='errand order li' COMP_POINT=15 COMP_WORDS=(errand order li) COMP_CWORD=2; _errand
printf '%s\\n' "\${COMPREPLY[@]}"`,
  ],
  zsh: [
    '-f',
    '-c',
    `eval "$(cat)"; compadd() { print -rl -- $values }; try() { local PREFIX=li CURRENT=3 words=(errand order li); _errand }; try`,
  ],
  fish: ['--no-config', '-c', "cat | source; complete -C 'errand order li'"],
};
const triedShells: readonly TriedShell[] = ['bash', 'zsh', 'fish'];

/** Maximum time for one completion, in ms. */
const timeoutMs = 10_000;

function complete(
  { environment, signal }: Context,
  shell: TriedShell,
  script: string,
): Promise<'completed' | 'failed' | 'no shell'> {
  const program = findProgram(shell, environment);
  if (!program) return Promise.resolve('no shell');
  return new Promise((resolve) => {
    const child = spawn(program.file, trials[shell], {
      env: { ...program.environment },
      stdio: ['pipe', 'pipe', 'ignore'],
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    let out = '';
    child.stdin.on('error', () => {});
    child.stdin.end(script);
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
    child.on('error', () => resolve('failed'));
    child.on('close', () => resolve(/^list\b/m.test(out) ? 'completed' : 'failed'));
  });
}

/** Reads a file. Undefined if the file is missing or unreadable. */
function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
