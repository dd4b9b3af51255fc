import { defineCommand } from '../../cli/define.ts';
import { keyMode, maskKey } from '../../config/keys.ts';
import type { Setting } from '../../config/resolve.ts';
import { localProfile } from '../../config/stored.ts';
import type { Column } from '../../format/result.ts';
import { ErrandError, exitCodes } from '../../platform/errors.ts';

const columns: readonly Column[] = [
  { name: 'profile', path: 'profile.value' },
  { name: 'chosen by', path: 'profile.from' },
  { name: 'service', path: 'base_url.value' },
  { name: 'set by', path: 'base_url.from' },
  { name: 'key', path: 'api_key.value' },
  { name: 'key from', path: 'api_key.name' },
  { name: 'mode', path: 'mode', kind: 'status' },
  { name: 'works', path: 'works', kind: 'flag' },
  { name: 'response', path: 'response' },
  { name: 'legacy token', path: 'legacy_token.value' },
];

export const status = defineCommand({
  name: 'status',
  summary: 'Which key is used, test or live, where each setting comes from, and whether it works',
  options: { offline: { kind: 'flag', description: 'do not ask the service' } },
  examples: [
    { command: 'errand auth status', note: 'who am I' },
    { command: 'errand auth status --offline -o json --query mode', note: 'test or live, without a request' },
  ],
  output: { record: 'AuthStatus' },
  operations: ['wallet.get'],
  exitCodes: { 3: 'there is no key, or the service refuses it' },
  related: ['auth token', 'profile list'],
  async run(context, { offline = false }) {
    const { profile, baseUrl, legacyToken, shadowedKey } = context.settings;
    const apiKey = await context.apiKey();
    const checked = offline || !apiKey ? undefined : await tryKey();
    const hints = shadowedKey
      ? [
          `warning: ${apiKey?.name} hides the key ${maskKey(shadowedKey)} that is stored for profile ${profile.value}`,
        ]
      : [];
    return {
      kind: 'record',
      record: {
        profile,
        base_url: baseUrl,
        api_key: masked(apiKey),
        legacy_token: masked(legacyToken),
        mode: apiKey ? (keyMode(apiKey.value) ?? 'unknown') : null,
        works: checked?.works ?? null,
        response: checked?.response ?? (apiKey ? null : noKey(profile.value)),
      },
      columns,
      id: 'profile.value',
      hints,
      exitCode:
        (checked && !checked.works) || (!apiKey && profile.value !== 'local') ? exitCodes.authentication : 0,
    };

    async function tryKey(): Promise<{ works: boolean; response: string }> {
      try {
        await (await context.client()).call('wallet.get', {});
        return { works: true, response: 'key accepted' };
      } catch (error) {
        if (!(error instanceof ErrandError) || error.category !== 'authentication') throw error;
        return { works: false, response: error.message };
      }
    }
  },
});

const masked = (setting: Setting<string> | undefined) =>
  setting ? { ...setting, value: maskKey(setting.value) } : null;

const noKey = (profile: string): string =>
  profile === localProfile
    ? 'no key yet; the local profile mints one when it is first needed'
    : `no key is stored for profile ${profile}; errand auth token stores one`;
