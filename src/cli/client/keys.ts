import { own } from '../../api/json.ts';
import { keyMode, maskKey } from '../../config/keys.ts';
import { embeddedUrl, localProfile } from '../../config/stored.ts';
import { isSameOrigin } from '../../http/address.ts';
import type { Client } from '../../http/client.ts';
import type { KeySource } from '../../http/credentials.ts';
import type { Context } from '../../run/context.ts';

/** The local profile of the embedded sandbox gets its key when a request first needs one. */
export const mintsKey = ({ settings }: Context): boolean =>
  !settings.apiKey && settings.profile.value === localProfile && settings.baseUrl.value === embeddedUrl;

/** Of a rehearsal the key is the client token too, where both surfaces are one service. */
const isOneService = ({ settings: { baseUrl, legacyBaseUrl } }: Context): boolean =>
  isSameOrigin(new URL(legacyBaseUrl.value), new URL(baseUrl.value));

/** The keys that the settings name. */
export const storedKey =
  (context: Context): KeySource =>
  ({ auth }) => {
    const { apiKey, legacyToken } = context.settings;
    if (auth === 'bearer') return apiKey?.value;
    return legacyToken?.value ?? (apiKey && asClientToken(context, apiKey.value));
  };

/** The key that the local profile gets. */
export const mintedKey =
  (context: Context, minted: () => Promise<string>): KeySource =>
  async ({ auth }) => {
    if (auth === 'bearer') return minted();
    return isOneService(context) ? asClientToken(context, await minted()) : undefined;
  };

const asClientToken = (context: Context, key: string): string | undefined =>
  isOneService(context) && keyMode(key) === 'test' ? key : undefined;

/**
 * The local profile's key: minted when it is first needed, with a note. Of two processes at once, the first one's key
 * is kept by both, and that one says so. The sandbox's example address is saved as `home` where no address is saved yet.
 */
export async function localKey(context: Context, client: Client): Promise<string> {
  const { body } = await client.call('sandbox.mint', { body: {} });
  const store = await context.store();
  // First the address: another process that finds the key already takes it that the rest is there too.
  const isExampleSaved = await store.saveExample('home', own(body.example_order, 'shipping_address'));
  const { withKey } = await import('../../config/with-key.ts');
  const storedAt = new Date(context.clock.now()).toISOString();
  let key = body.api_key;
  await store.setProfile(localProfile, (before = { base_url: embeddedUrl }) => {
    // Another process may have made it the profile of another service.
    if (before.base_url !== embeddedUrl) return before;
    key = before.api_key ?? body.api_key;
    return before.api_key === undefined ? withKey(before, key, storedAt) : before;
  });
  if (key === body.api_key) context.note(`minted a sandbox key ${maskKey(key)} for profile ${localProfile}`);
  if (isExampleSaved) context.note("saved the sandbox's example address as home");
  return key;
}
