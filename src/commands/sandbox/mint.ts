import { own } from '../../api/json.ts';
import { defineCommand } from '../../cli/define.ts';
import { checkKey, maskKey } from '../../config/keys.ts';
import { UsageError } from '../../platform/errors.ts';
import { shellWord } from '../../platform/shell.ts';
import type { Context } from '../../run/context.ts';
import { whereFlags } from '../../run/context-flags.ts';

export const mint = defineCommand({
  name: 'mint',
  summary: 'Mint a sandbox key and use it from now on; no account needed',
  description:
    'The key is stored if the profile has the address where it was minted. A key that the profile has is kept beside it, since its orders and wallet belong to it (auth list, auth use). With -o json the key is printed whole, for a CI job to keep.',
  options: {
    email: { kind: 'text', description: 'who to tell when the sandbox is claimed' },
    name: { kind: 'text', description: 'name of the key' },
    store: { kind: 'yes-no', description: 'store the key in the profile (it is, unless --no-store)' },
  },
  examples: [
    { command: 'errand sandbox mint', note: 'a key for this profile' },
    { command: 'errand sandbox mint --no-store -o tsv --query api_key', note: 'a key for a CI job' },
  ],
  output: { record: 'sandbox.mint' },
  operations: ['sandbox.mint'],
  related: ['auth use', 'auth list', 'sandbox status'],
  async run(context, { store, ...fields }) {
    const profile = store === false ? undefined : await profileFor(context, store === true);
    const client = await context.client();
    const { body } = await client.call('sandbox.mint', { body: fields });
    const { isStored, hints } =
      profile === undefined
        ? { isStored: false, hints: store === false ? [] : [notStored(context)] }
        : await saveKey(context, profile, body.api_key);
    const example = own(body.example_order, 'shipping_address');
    if (isStored && (await (await context.store()).saveExample('home', example)))
      hints.push("saved the sandbox's example address as home");
    const shownKey = isStored && context.output.format === 'table' ? maskKey(body.api_key) : body.api_key;
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

interface Keeper {
  readonly profile: string;
  /** The profile's stored base URL. */
  readonly service: string;
}

/**
 * Returns the profile in which the key may be stored. The profile's base URL must be the one where the key is minted.
 * @throws UsageError if --store is given and the profile has another base URL.
 */
async function profileFor(context: Context, isRequested: boolean): Promise<Keeper | undefined> {
  const { profile, baseUrl } = context.settings;
  const stored = (await context.store()).profile(profile.value);
  const isOwn = baseUrl.from === 'profile' || baseUrl.from === 'default';
  if (isOwn || stored?.base_url === baseUrl.value)
    return { profile: profile.value, service: stored?.base_url ?? baseUrl.value };
  if (!isRequested) return undefined;
  throw new UsageError(
    `--store: profile ${profile.value} is for ${stored?.base_url ?? 'no service yet'}, and the key would be for ${baseUrl.value}`,
    { next: [{ command: profileLine(baseUrl.value), when: 'to make a profile for that address' }] },
  );
}

const notStored = ({ settings: { profile, baseUrl } }: Context): string =>
  `not stored: profile ${profile.value} is for another address; \`${profileLine(baseUrl.value)}\` makes one for this key`;

const profileLine = (baseUrl: string): string =>
  `errand profile set NAME --base-url ${shellWord(baseUrl)} --use`;

/** Stores the key and makes it the current key. The profile's previous key becomes a spare key. */
async function saveKey(
  context: Context,
  keeper: Keeper,
  minted: string,
): Promise<{ isStored: boolean; hints: string[] }> {
  const { storeKey } = await import('../../config/store-key.ts');
  const key = checkKey(minted, 'the minted key');
  try {
    const keyNotes = await storeKey(await context.store(), {
      ...keeper,
      key,
      flags: whereFlags(context),
      now: context.clock.now(),
    });
    return { isStored: true, hints: [`stored for profile ${keeper.profile}`, ...keyNotes] };
  } catch (error) {
    // The key has already been minted, so print it even if it cannot be stored.
    if (!(error instanceof UsageError)) throw error;
    return { isStored: false, hints: [error.message] };
  }
}
