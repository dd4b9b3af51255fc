import { resolve } from 'node:path';
import { defineCommand } from '../../cli/define.ts';
import { checkBaseUrl } from '../../config/base-url.ts';
import type { Profile } from '../../config/stored.ts';
import { UsageError } from '../../platform/errors.ts';
import { typedCommand } from '../../platform/shell.ts';
import type { Context } from '../../run/context.ts';
import { profileColumns, shownProfile } from './columns.ts';

export const set = defineCommand({
  name: 'set',
  aliases: ['add', 'create'],
  summary: 'Make a profile, or change one',
  description:
    'Where an address changes, what was stored for the other service (key, client token) is dropped: that is asked about, or takes --replace.',
  arguments: [{ name: 'name', completes: 'profiles', description: 'name of the profile', required: true }],
  options: {
    baseUrl: {
      kind: 'text',
      placeholder: 'url',
      description: 'base URL of the service; `embedded:` is the built-in sandbox',
    },
    legacyBaseUrl: { kind: 'text', placeholder: 'url', description: 'base URL of the legacy v1 surface' },
    allowPlainHttp: { kind: 'yes-no', description: 'plain http to a host that is not this machine' },
    policy: {
      kind: 'text',
      placeholder: 'file',
      completes: 'files',
      description: 'policy file of this profile',
    },
    defaultPolicy: { kind: 'flag', description: 'the policy of the configuration folder again' },
    replace: { kind: 'flag', description: 'drop what is stored for another address' },
    use: { kind: 'flag', description: 'use it from now on' },
  },
  examples: [
    {
      command: 'errand profile set served --base-url http://127.0.0.1:4848',
      note: 'a sandbox served on this machine',
    },
    { command: 'errand auth token --profile served < key.txt', note: 'then its key' },
  ],
  output: { record: 'Profile' },
  related: ['auth token', 'profile use', 'profile database'],
  repairsConfig: true,
  async run(context, { name, use = false, replace = false, ...given }) {
    if (given.policy !== undefined && given.defaultPolicy)
      throw new UsageError('--policy and --default-policy exclude each other; give one');
    const store = await context.store();
    const known = store.profile(name);
    const isAgreed = replace || (await agreeToDrop(context, name, changed(known, given).dropped, known));
    let dropped: readonly string[] = [];
    await store.setProfile(name, (before) => {
      const after = changed(before, given);
      // Another process may have stored a key in the meantime.
      if (!isAgreed && after.dropped.length > 0) throw wouldDrop(context, name, after.dropped, before);
      dropped = after.dropped;
      return after.profile;
    });
    if (dropped.length > 0)
      context.note(`dropped the ${dropped.join(' and the ')} of ${name}: stored for another service`);
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

interface Given {
  readonly baseUrl?: string;
  readonly legacyBaseUrl?: string;
  readonly allowPlainHttp?: boolean;
  readonly policy?: string;
  readonly defaultPolicy?: boolean;
}

/**
 * Applies the given values to a profile. Also lists the secrets that are dropped as a result.
 * @throws UsageError for an invalid address.
 */
function changed(
  before: Profile | undefined,
  { baseUrl, legacyBaseUrl, allowPlainHttp, policy, defaultPolicy }: Given,
): { readonly profile: Profile; readonly dropped: readonly string[] } {
  const base = baseUrl ?? before?.base_url;
  if (base === undefined)
    throw new UsageError('--base-url is missing: a new profile needs the base URL of its service');
  const plain = allowPlainHttp ?? before?.allow_plain_http ?? false;
  const checked = checkBaseUrl(base, '--base-url', plain);
  const saved: Partial<Profile> = checked === before?.base_url ? before : {};
  const legacy =
    legacyBaseUrl === undefined
      ? saved.legacy_base_url
      : checkBaseUrl(legacyBaseUrl, '--legacy-base-url', plain);
  const { legacy_token: token, policy: _, ...rest } = saved;
  const policyPath = policy === undefined ? before?.policy : resolve(policy);
  const keepsToken = legacyAddress(before) === (legacy ?? checked);
  const dropped = [
    ...(hasKeys(before) && !hasKeys(saved) ? ['key'] : []),
    ...(before?.key_command && !saved.key_command ? ['key command'] : []),
    ...(before?.legacy_token !== undefined && !(token !== undefined && keepsToken) ? ['client token'] : []),
  ];
  const profile = {
    ...rest,
    base_url: checked,
    ...(legacy !== undefined && { legacy_base_url: legacy }),
    ...(token !== undefined && keepsToken && { legacy_token: token }),
    ...(plain && { allow_plain_http: true }),
    ...(policyPath !== undefined && !defaultPolicy && { policy: policyPath }),
    ...(before?.database !== undefined && { database: before.database }),
  };
  return { profile, dropped };
}

const hasKeys = ({ api_key: key, other_keys: others }: Partial<Profile> = {}): boolean =>
  key !== undefined || others !== undefined;

/**
 * Asks whether to delete secrets that were stored for another address.
 * @throws UsageError if nobody agrees.
 */
async function agreeToDrop(
  context: Context,
  name: string,
  dropped: readonly string[],
  before: Profile | undefined,
): Promise<boolean> {
  if (dropped.length === 0) return false;
  const question = `Drop the ${dropped.join(' and the ')} of ${name}, stored for ${before?.base_url}?`;
  if (context.interactive.yes && (await (await context.prompt()).confirm(context, question))) return true;
  throw wouldDrop(context, name, dropped, before);
}

function wouldDrop(
  { argv }: Context,
  name: string,
  dropped: readonly string[],
  before: Profile | undefined,
): UsageError {
  return new UsageError(
    `profile ${name} has a ${dropped.join(' and a ')} for ${before?.base_url}, and another address would drop ${dropped.length > 1 ? 'them' : 'it'}; nothing was changed`,
    {
      next: [
        { command: typedCommand([...argv, '--replace']), when: `to drop the ${dropped.join(' and the ')}` },
      ],
    },
  );
}

/** Address to which a profile's client token is sent. */
const legacyAddress = (profile: Profile | undefined): string | undefined =>
  profile?.legacy_base_url ?? profile?.base_url;
