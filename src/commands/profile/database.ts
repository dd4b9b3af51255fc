import { defineCommand } from '../../cli/define.ts';
import { checkDatabaseUrl } from '../../config/base-url.ts';
import { refusedBy, UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';

const largestBytes = 4096;

export const database = defineCommand({
  name: 'database',
  summary: 'Name the database that a profile shares; read from stdin or a hidden prompt',
  description:
    'Takes postgres://user:password@host/name. No argument takes it: it would stay in the shell history and in the list of processes. ERRAND_DATABASE_URL goes before it.',
  arguments: [
    { name: 'name', completes: 'profiles', description: 'name of the profile; by default the one in use' },
  ],
  options: { forget: { kind: 'flag', description: 'the journal of this machine again' } },
  examples: [
    { command: 'errand profile database served < database-url.txt', note: 'from a file' },
    { command: 'errand profile database served --forget', note: 'no database any more' },
  ],
  output: { nothing: true },
  related: ['config path', 'doctor', 'profile set'],
  async run(context, { name = context.settings.profile.value, forget = false }) {
    const store = await context.store();
    if (!store.profile(name)) throw noProfile(name);
    const text = forget ? undefined : (await readAddress(context)).trim();
    const where = context.io.stdin.isTerminal ? typed : 'stdin';
    const shown = text === undefined ? undefined : checkDatabaseUrl(text, where).shown;
    await store.setProfile(name, (before) => {
      if (!before) throw noProfile(name);
      const { database: _, ...rest } = before;
      return text === undefined ? rest : { ...rest, database: text };
    });
    const { database: inUse, profile } = context.settings;
    const isHidden = inUse?.from === 'environment' && profile.value === name;
    return {
      kind: 'none',
      hints: [
        shown === undefined
          ? `profile ${name} shares no database`
          : `profile ${name} shares ${shown}; \`errand doctor\` looks at it`,
        ...(isHidden ? [`${inUse.name} is set and goes before it`] : []),
      ],
    };
  },
});

const typed = 'what was typed';

async function readAddress(context: Context): Promise<string> {
  if (!context.io.stdin.isTerminal) return (await context.readInput(largestBytes)).toString('utf8');
  if (!context.interactive.yes)
    throw new UsageError(
      `the address of the database is missing; cannot prompt, as ${context.interactive.why}`,
    );
  return (await context.prompt()).askSecret(context, 'Address of the database', {
    check: refusedBy((text) => checkDatabaseUrl(text, typed)),
  });
}

const noProfile = (name: string): UsageError => new UsageError(`there is no profile "${name}"`);
