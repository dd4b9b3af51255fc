import { UsageError } from '../../errors.ts';
import { checkKey, maskKey } from '../../settings/keys.ts';
import { defineCommand } from '../define.ts';

export const mint = defineCommand({
  name: 'mint',
  summary: 'Mint a sandbox key and use it from now on; no account needed',
  description: 'The answer holds the key: with -o json it is printed whole, for a CI job to keep.',
  options: {
    email: { kind: 'text', description: 'who to tell when the sandbox is claimed' },
    name: { kind: 'text', description: 'name of the key' },
    store: { kind: 'yes-no', description: 'store the key in the profile (it is, unless --no-store)' },
  },
  examples: [
    { command: 'errand sandbox mint', note: 'a key for this profile' },
    { command: 'errand sandbox mint --no-store -o json --query api_key', note: 'a key for a CI job' },
  ],
  operations: ['sandbox.mint'],
  related: ['sandbox status', 'auth status'],
  async run(context, { store: keep = true, ...fields }) {
    const client = await context.client();
    const { body } = await client.call('sandbox.mint', { body: fields });
    const hints: string[] = [];
    if (keep) {
      const key = checkKey(body.api_key, 'the minted key');
      const { value: profile } = context.settings.profile;
      let replaced: string | undefined;
      await (await context.store()).setProfile(profile, (before) => {
        if (!before) throw new UsageError(`there is no profile "${profile}"`);
        replaced = before.api_key;
        return { ...before, api_key: key };
      });
      hints.push(`stored for profile ${profile}`);
      if (replaced !== undefined)
        hints.push(`in place of ${maskKey(replaced)}, whose orders and wallet this key does not see`);
    }
    const shownKey = keep && context.output.format === 'table' ? maskKey(body.api_key) : body.api_key;
    return {
      kind: 'record',
      record: body,
      id: 'api_key',
      columns: [
        { name: 'key', path: 'api_key', value: () => shownKey },
        { name: 'policy', path: 'expires_policy' },
        { name: 'claim it at', path: 'claim_url' },
      ],
      hints,
    };
  },
});
