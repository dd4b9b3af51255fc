import { UsageError } from '../../errors.ts';
import { checkBaseUrl } from '../../settings/base-url.ts';
import type { Profile } from '../../settings/stored.ts';
import { defineCommand } from '../define.ts';
import { profileColumns } from './columns.ts';
import { shownProfile } from './shown.ts';

export const set = defineCommand({
  name: 'set',
  aliases: ['add', 'create'],
  summary: 'Make a profile, or change one',
  description: 'Where the base URL changes, the stored key is dropped: it was for the other service.',
  arguments: [{ name: 'name', description: 'name of the profile', required: true }],
  options: {
    baseUrl: {
      kind: 'text',
      placeholder: 'url',
      description: 'base URL of the service; `embedded:` is the built-in sandbox',
    },
    legacyBaseUrl: { kind: 'text', placeholder: 'url', description: 'base URL of the legacy v1 surface' },
    allowPlainHttp: { kind: 'yes-no', description: 'plain http to a host that is not this machine' },
    use: { kind: 'flag', description: 'use it from now on' },
  },
  examples: [
    {
      command: 'errand profile set served --base-url http://127.0.0.1:4848',
      note: 'a sandbox served on this machine',
    },
    { command: 'errand auth token --profile served < key.txt', note: 'then its key' },
  ],
  related: ['auth token', 'profile use'],
  mendsConfig: true,
  async run(context, { name, baseUrl, legacyBaseUrl, allowPlainHttp, use = false }) {
    const store = await context.store();
    await store.setProfile(name, (before) => {
      const base = baseUrl ?? before?.base_url;
      if (base === undefined)
        throw new UsageError(`--base-url is missing: a new profile needs the base URL of its service`);
      const plain = allowPlainHttp ?? before?.allow_plain_http ?? false;
      const checked = checkBaseUrl(base, '--base-url', plain);
      const kept: Partial<Profile> = checked === before?.base_url ? before : {};
      return {
        ...kept,
        base_url: checked,
        ...(legacyBaseUrl !== undefined && {
          legacy_base_url: checkBaseUrl(legacyBaseUrl, '--legacy-base-url', plain),
        }),
        ...(plain && { allow_plain_http: true }),
      };
    });
    if (use) await store.useProfile(name);
    const profile = store.profile(name);
    if (!profile) throw new UsageError(`the profile ${name} was deleted meanwhile`);
    return {
      kind: 'record',
      record: shownProfile(name, profile, store.stored.current_profile),
      columns: profileColumns,
      id: 'name',
    };
  },
});
