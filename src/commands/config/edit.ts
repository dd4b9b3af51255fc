import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineCommand } from '../../cli/define.ts';
import { parsePreference, preferenceInUse, preferences } from '../../config/preferences.ts';
import type { Preference } from '../../config/stored.ts';
import { ErrandError, stopOf, UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';

export const edit = defineCommand({
  name: 'edit',
  summary: 'Edit all preferences in your editor',
  description:
    'Opens $VISUAL, else $EDITOR, else vi, with a line for each preference. What is saved is checked as a whole before anything changes. Keys and profiles are not in it.',
  examples: [{ command: 'errand config edit', note: 'every preference with its default' }],
  output: { nothing: true },
  readsOnly: false,
  related: ['config list', 'config set'],
  async run(context) {
    const { VISUAL, EDITOR } = context.environment;
    // An editor that the user has named may need no terminal, because it may open a window of its own.
    if (!context.interactive.yes && !VISUAL && !EDITOR)
      throw new UsageError(`an editor needs a terminal, and ${context.interactive.why}`, {
        next: [{ command: 'errand config set NAME VALUE', when: 'in a script' }],
      });
    const store = await context.store();
    const text = await edited(context, fileOf(store.stored.preferences));
    const given = preferencesIn(text);
    const changes = Object.keys(preferences).filter((name) => given[name] !== store.stored.preferences[name]);
    for (const name of changes) await store.setPreference(name, given[name]);
    const words = changes.map((name) => `${name} = ${given[name] ?? 'not set'}`);
    return { kind: 'none', hints: changes.length === 0 ? ['nothing changed'] : words };
  },
});

/** One line per preference; unset preferences are commented out. */
function fileOf(stored: Readonly<Record<string, Preference>>): string {
  const lines = Object.entries(preferences).flatMap(([name, { description, default: otherwise }]) => [
    `# ${description} (default: ${otherwise})`,
    stored[name] === undefined ? `# ${name} =` : `${name} = ${preferenceInUse(name, stored[name], {}).value}`,
    '',
  ]);
  return [
    '# Preferences of errand. A line is NAME = VALUE; what is left out has its default.',
    '',
    ...lines,
  ].join('\n');
}

/** @throws UsageError naming the line and the accepted values. */
function preferencesIn(text: string): Record<string, Preference> {
  const given: Record<string, Preference> = {};
  for (const [index, line] of text.split('\n').entries()) {
    const content = line.trim();
    if (content === '' || content.startsWith('#')) continue;
    const at = content.indexOf('=');
    const [name, value] = [content.slice(0, at).trim(), content.slice(at + 1).trim()];
    try {
      if (at < 1 || value === '') throw new UsageError('write NAME = VALUE');
      given[name] = parsePreference(name, value);
    } catch (error) {
      if (!(error instanceof UsageError)) throw error;
      throw new UsageError(`line ${index + 1}: ${error.message}; nothing was changed`);
    }
  }
  return given;
}

/**
 * Lets the user edit a text. The text is in a file that only this user can read.
 * @throws ErrandError if the editor fails.
 */
async function edited(context: Context, text: string): Promise<string> {
  const { environment, settings, signal } = context;
  const command = environment.VISUAL || environment.EDITOR || 'vi';
  mkdirSync(settings.folders.config, { recursive: true, mode: 0o700 });
  const folder = mkdtempSync(join(settings.folders.config, 'edit-'));
  const file = join(folder, 'preferences.txt');
  try {
    writeFileSync(file, text, { mode: 0o600 });
    const code = await new Promise<number | null>((resolve, reject) => {
      const child = spawn(`${command} "$ERRAND_EDITED"`, {
        shell: true,
        stdio: 'inherit',
        env: { ...environment, ERRAND_EDITED: file },
      });
      // A Ctrl-C goes to the editor as well, which may take it for something else.
      const stop = (): void => {
        if (stopOf(signal.reason) === 'terminated') child.kill();
      };
      signal.addEventListener('abort', stop, { once: true });
      child.on('error', reject);
      child.on('exit', (ended) => {
        signal.removeEventListener('abort', stop);
        resolve(ended);
      });
    });
    const how = stopOf(signal.reason);
    if (how) throw new ErrandError(how, `${how}; nothing was changed`, { outcome: 'not_sent' });
    if (code !== 0)
      throw new ErrandError(
        'unexpected',
        `the editor ended with ${code ?? 'a signal'}; nothing was changed`,
        {
          outcome: 'not_sent',
          hint: `It was \`${command}\`; $VISUAL or $EDITOR names another.`,
        },
      );
    return readFileSync(file, 'utf8');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
