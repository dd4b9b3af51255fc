import { defineCommand } from '../../cli/define.ts';
import { checkKey, keyMode, maskKey } from '../../config/keys.ts';
import { refusedBy, UsageError } from '../../platform/errors.ts';
import { whereFlags } from '../../run/context-flags.ts';
import { agreeToReplace, profileFor, replaceOption } from './profile-for.ts';

const largestKeyBytes = 4096;

export const token = defineCommand({
  name: 'token',
  summary: 'Store a key for the profile; read from stdin or a hidden prompt',
  description:
    'No flag takes a key: it would stay in the shell history and in the list of processes. A key that the profile has is kept beside the new one (auth list, auth use); a client token is replaced only when asked.',
  options: {
    legacy: { kind: 'flag', description: 'the client token of the legacy v1 surface in place of the key' },
    ...replaceOption,
  },
  examples: [
    { command: 'errand auth token < key.txt', note: 'from a file' },
    { command: 'errand auth token --profile served < key.txt', note: 'for another profile' },
  ],
  output: { nothing: true },
  related: ['auth list', 'auth status', 'auth logout', 'sandbox mint'],
  async run(context, { legacy = false, replace = false }) {
    const { value: profile } = context.settings.profile;
    const what = legacy ? 'the token' : 'the key';
    const store = await context.store();
    const saved = store.profile(profile);
    const before = legacy ? saved?.legacy_token : undefined;
    // A client token with its own address does not depend on the base URL.
    if (saved && (!legacy || context.settings.legacyBaseUrl.from === 'default'))
      profileFor(context, saved, {
        command: 'errand auth token --profile NAME',
        when: 'to store the key there',
      });
    const isPrompted = context.io.stdin.isTerminal && context.interactive.yes;
    if (isPrompted) await agreeToReplace(context, before, replace);
    const key = checkKey(await readKey(), what);
    if (!isPrompted && key !== before) await agreeToReplace(context, before, replace);
    const keyHints = await (legacy ? storeToken(key) : storeApiKey(key));
    const mode = keyMode(key);
    const hints = [`stored ${maskKey(key)} for profile ${profile}${mode ? ` (${mode})` : ''}`, ...keyHints];
    return {
      kind: 'none',
      hints: mode === 'live' ? [...hints, 'orders with this key spend real money'] : hints,
    };

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

    /** Binds the token to the service named by the environment; the token is never sent elsewhere. */
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

const noProfile = (name: string): UsageError => new UsageError(`there is no profile "${name}"`);
