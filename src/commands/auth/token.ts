import { defineCommand } from '../../cli/define.ts';
import { checkKey, keyMode, keysOf, maskKey } from '../../config/keys.ts';
import { refusedBy, UsageError } from '../../platform/errors.ts';
import { whereFlags } from '../../run/context-flags.ts';
import { agreeToReplace, profileFor, replaceOption } from './profile-for.ts';

const largestKeyBytes = 4096;

export const token = defineCommand({
  name: 'token',
  summary: 'Store a key for the profile, or the command that prints it',
  description:
    'Reads the key from stdin or a hidden prompt. No flag takes a key: it would stay in the shell history and in the list of processes. A key that the profile has is kept beside the new one (auth list, auth use); a client token is replaced only when asked.',
  lists: [
    {
      title: 'Key command',
      rows: {
        'when it runs': 'once for each command that needs the key, and once for errand mcp',
        'how it runs':
          "in errand's configuration folder, for 10 seconds at most, without a shell, a terminal or errand's secrets in its environment",
        'what it prints': 'the key, in one line; stderr is shown',
      },
      note: 'It stands in place of stored keys: they are forgotten, and storing a key forgets the command.',
    },
  ],
  options: {
    command: {
      kind: 'text',
      placeholder: 'command',
      description: 'command that prints the key when it is needed, so that it lies in no file',
    },
    legacy: { kind: 'flag', description: 'the client token of the legacy v1 surface in place of the key' },
    ...replaceOption,
  },
  examples: [
    { command: 'errand auth token < key.txt', note: 'from a file' },
    { command: 'errand auth token --profile served < key.txt', note: 'for another profile' },
    {
      command: "errand auth token --profile work --command 'op read op://work/errand/key'",
      note: 'from a password manager',
    },
  ],
  output: { nothing: true },
  related: ['auth list', 'auth status', 'auth logout', 'sandbox mint'],
  async run(context, { command, legacy = false, replace = false }) {
    if (command !== undefined && legacy)
      throw new UsageError('--command and --legacy exclude each other; a client token is stored');
    const { value: profile } = context.settings.profile;
    const what = legacy ? 'the token' : 'the key';
    const store = await context.store();
    const saved = store.profile(profile);
    const before = legacy && saved?.legacy_token ? saved.legacy_token : undefined;
    const masked = before === undefined ? [] : [maskKey(before)];
    // A client token that is stored with an address of its own does not depend on the base URL.
    if (saved && (!legacy || context.settings.legacyBaseUrl.from === 'default'))
      profileFor(context, saved, {
        command: 'errand auth token --profile NAME',
        when: 'to store the key there',
      });
    if (command !== undefined) return { kind: 'none', hints: await storeCommand(command) };
    const isPrompted = context.io.stdin.isTerminal && context.interactive.yes;
    if (isPrompted) await agreeToReplace(context, masked, replace);
    const key = checkKey(await readKey(), what);
    if (!isPrompted && key !== before) await agreeToReplace(context, masked, replace);
    const keyHints = await (legacy ? storeToken(key) : storeApiKey(key));
    return {
      kind: 'none',
      hints: [
        `stored ${maskKey(key)} for profile ${profile}${modeOf(key)}`,
        ...keyHints,
        ...spendingHints(key),
      ],
    };

    /** Runs the key command once before storing it. A command that prints no key is thus refused at once. */
    async function storeCommand(text: string): Promise<string[]> {
      if (!saved) throw noProfile(profile);
      const [{ readKey, readKeyCommand, shownCommand }, { storeKeyCommand }] = await Promise.all([
        import('../../config/key-command.ts'),
        import('../../config/store-key.ts'),
      ]);
      const argv = readKeyCommand(text, context.environment);
      const agreed = keysOf(saved).map(({ key }) => key);
      await agreeToReplace(context, agreed.map(maskKey), replace);
      const { environment, signal, note, settings } = context;
      const folder = settings.folders.config;
      const key = await readKey({ command: argv, profile, environment, folder, signal, note });
      const service = saved.base_url;
      const forgotten = await storeKeyCommand(store, profile, { command: argv, service, agreed });
      const { apiKey } = settings;
      return [
        `profile ${profile} reads its key from \`${shownCommand(argv)}\`: ${maskKey(key)}${modeOf(key)}`,
        ...forgotten,
        ...(apiKey?.from === 'environment' ? [`${apiKey.name} is set and goes before it`] : []),
        ...spendingHints(key),
      ];
    }

    async function storeApiKey(key: string): Promise<string[]> {
      if (!saved) throw noProfile(profile);
      const { storeKey } = await import('../../config/store-key.ts');
      return storeKey(store, {
        profile,
        key,
        service: saved.base_url,
        replace,
        flags: whereFlags(context),
        now: context.clock.now(),
      });
    }

    async function storeToken(token: string): Promise<string[]> {
      await store.setProfile(profile, (before) => {
        if (!before) throw noProfile(profile);
        return { ...before, ...legacyAddress(), legacy_token: token };
      });
      return [];
    }

    /** Binds the token to the service that the environment names. The token is then never sent to any other service. */
    function legacyAddress(): { legacy_base_url?: string } {
      const { value, from } = context.settings.legacyBaseUrl;
      return from === 'environment' ? { legacy_base_url: value } : {};
    }

    async function readKey(): Promise<string> {
      if (!context.io.stdin.isTerminal) return (await context.readInput(largestKeyBytes)).toString('utf8');
      if (!context.interactive.yes)
        throw new UsageError(`the key is missing; cannot prompt, as ${context.interactive.why}`);
      return (await context.prompt()).askSecret(context, legacy ? 'Client token' : 'API key', {
        check: refusedBy((typed) => checkKey(typed, what)),
      });
    }
  },
});

/** Suffix such as ` (live)`; empty if the key does not show its mode. */
function modeOf(key: string): string {
  const mode = keyMode(key);
  return mode ? ` (${mode})` : '';
}

const spendingHints = (key: string): string[] =>
  keyMode(key) === 'live' ? ['orders with this key spend real money'] : [];

const noProfile = (name: string): UsageError => new UsageError(`there is no profile "${name}"`);
