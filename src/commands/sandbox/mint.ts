import { defineCommand } from '../../cli/define.ts';
import type { Context } from '../../context.ts';
import { own } from '../../contract/json.ts';
import { UsageError } from '../../errors.ts';
import { checkKey, maskKey } from '../../settings/keys.ts';
import { shellWord, typedCommand } from '../../shell-word.ts';

export const mint = defineCommand({
  name: 'mint',
  summary: 'Mint a sandbox key and use it from now on; no account needed',
  description:
    'The key is stored if the profile has the address where it was minted. A stored key is replaced only with --replace or after a prompt, since its orders and wallet belong to it. With -o json the key is printed whole, for a CI job to keep.',
  options: {
    email: { kind: 'text', description: 'who to tell when the sandbox is claimed' },
    name: { kind: 'text', description: 'name of the key' },
    store: { kind: 'yes-no', description: 'store the key in the profile (it is, unless --no-store)' },
    replace: { kind: 'flag', description: 'in place of the key that the profile has' },
  },
  examples: [
    { command: 'errand sandbox mint', note: 'a key for this profile' },
    { command: 'errand sandbox mint --no-store -o json --query api_key', note: 'a key for a CI job' },
  ],
  output: { record: 'sandbox.mint' },
  operations: ['sandbox.mint'],
  related: ['sandbox status', 'auth status'],
  async run(context, { store, replace = false, ...fields }) {
    const profile = store === false ? undefined : await profileFor(context, store === true);
    const replaces =
      profile !== undefined && !context.previewsRequests && (await agreeToReplace(context, profile, replace));
    const client = await context.client();
    const { body } = await client.call('sandbox.mint', { body: fields });
    const { isStored, hints } =
      profile === undefined
        ? { isStored: false, hints: store === false ? [] : [notStored(context)] }
        : await keep(context, profile, body.api_key, replaces);
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

/** The profile that may keep the key: one of the address it is minted at. @throws UsageError where --store asks for another. */
async function profileFor(context: Context, isRequested: boolean): Promise<string | undefined> {
  const { profile, baseUrl } = context.settings;
  const stored = (await context.store()).profile(profile.value);
  const isOwn = baseUrl.from === 'profile' || baseUrl.from === 'default';
  if (isOwn || stored?.base_url === baseUrl.value) return profile.value;
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

/**
 * Whether the key of a profile is to be replaced.
 * @throws UsageError where it has one that nobody agrees to lose; then nothing is minted.
 */
async function agreeToReplace(context: Context, profile: string, replace: boolean): Promise<boolean> {
  const before = (await context.store()).profile(profile)?.api_key;
  if (before === undefined || replace) return replace;
  const question = `Replace ${maskKey(before)}? Its orders and wallet are lost to profile ${profile}.`;
  if (context.interactive.yes && (await (await context.prompt()).confirm(context, question))) return true;
  throw new UsageError(
    `profile ${profile} has the key ${maskKey(before)}, whose orders and wallet another key does not see; nothing was minted`,
    {
      next: [
        { command: again(context, '--replace'), when: 'to lose that key' },
        { command: again(context, '--no-store'), when: 'to print a new key and keep that one' },
      ],
    },
  );
}

const again = ({ argv }: Context, flag: string): string => typedCommand([...argv, flag]);

/** Stores the key, unless another process stored one meanwhile. */
async function keep(
  context: Context,
  profile: string,
  minted: string,
  replace: boolean,
): Promise<{ isStored: boolean; hints: string[] }> {
  const key = checkKey(minted, 'the minted key');
  let before: string | undefined;
  await (await context.store()).setProfile(profile, (found) => {
    before = found?.api_key;
    const kept = found ?? { base_url: context.settings.baseUrl.value };
    return before === undefined || replace ? { ...kept, api_key: key } : kept;
  });
  if (before === undefined) return { isStored: true, hints: [`stored for profile ${profile}`] };
  return replace
    ? {
        isStored: true,
        hints: [
          `stored for profile ${profile}`,
          `in place of ${maskKey(before)}, whose orders and wallet this key does not see`,
        ],
      }
    : { isStored: false, hints: [`not stored: profile ${profile} got the key ${maskKey(before)} meanwhile`] };
}
