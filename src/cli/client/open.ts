import { own } from '../../api/json.ts';
import { keyMode, maskKey } from '../../config/keys.ts';
import { embeddedUrl, localProfile } from '../../config/stored.ts';
import { type Client, type ClientOptions, createClient } from '../../http/client.ts';
import { firstOf, type KeySource } from '../../http/credentials.ts';
import type { Described } from '../../http/preview.ts';
import { curlCommand, previewKeys, previewTransport } from '../../http/preview.ts';
import { isSameOrigin } from '../../http/request.ts';
import type { EmbeddedHandler } from '../../http/transport/embedded.ts';
import { hearing } from '../../http/transport/hearing.ts';
import { pacedTransport } from '../../http/transport/paced.ts';
import { type Transport, TransportFailure } from '../../http/transport/transport.ts';
import { orderKeys } from '../../orders/order-keys.ts';
import { once } from '../../platform/async.ts';
import { redactor } from '../../platform/redact/redactor.ts';
import type { Context } from '../../run/context.ts';
import { RequestPreview } from '../../run/request-preview.ts';

export type Preview = 'curl' | 'request' | undefined;

interface Opened {
  readonly client: Client;
  /** Mints a key for the local profile if it has none. */
  ready(): Promise<void>;
}

/**
 * Opens a run's client with the configured key, for either the network or the embedded sandbox.
 * @param wrote is called after each write that the service has carried out. It is not called when the local key is
 * minted.
 */
export async function openClient(context: Context, preview: Preview, wrote: () => void): Promise<Opened> {
  const { settings } = context;
  const transport = await openTransport(context);
  redactor.remember([settings.apiKey?.value, settings.legacyToken?.value]);
  const options = {
    transport,
    baseUrl: settings.baseUrl.value,
    legacyBaseUrl: settings.legacyBaseUrl.value,
    timeoutMs: settings.timeoutMs.value,
    retries: settings.retries.value,
    clock: context.clock,
    signal: context.signal,
    allowPlainHttp: settings.allowPlainHttp,
    version: context.version,
  };
  const trace = settings.debug ? await debugTrace(context) : undefined;
  const make = (credentials: KeySource, more: Partial<ClientOptions> = {}): Client =>
    createClient({ ...options, trace, onWritten: wrote, credentials, ...more });
  const stored = firstOf(orderKeys(context), storedKey(context));
  if (preview) {
    const isShown = (method: string): boolean => preview === 'curl' || !/^(?:get|head)$/i.test(method);
    const keys = firstOf(previewKeys(isShown, storedKey(context)), stored);
    const shown = {
      transport: previewTransport(transport, isShown, (described) => showRequest(described, preview)),
      trace:
        trace &&
        ((event) => {
          if (event.type !== 'request' || !isShown(event.request.method)) trace(event);
        }),
    } satisfies Partial<ClientOptions>;
    return { client: make(keys, shown), ready: async () => {} };
  }
  if (!mintsKey(context)) return { client: make(stored), ready: async () => {} };
  const keyless = make(() => undefined, { onWritten: () => {} });
  const minted = once(() => localKey(context, keyless));
  const client = make(firstOf(stored, mintedKey(context, minted)));
  return { client, ready: async () => void (await minted()) };
}

function showRequest(described: Described, preview: 'curl' | 'request'): never {
  throw new RequestPreview(
    preview === 'curl' ? curlCommand(described) : `${JSON.stringify(described, null, 2)}\n`,
  );
}

async function debugTrace(context: Context) {
  const { createTrace } = await import('../../http/trace.ts');
  return createTrace(context.note);
}

/** The embedded sandbox's local profile mints its key on the first request that needs one. */
const mintsKey = ({ settings }: Context): boolean =>
  !settings.apiKey &&
  !settings.keyCommand &&
  settings.profile.value === localProfile &&
  settings.baseUrl.value === embeddedUrl;

/** Whether both API surfaces are on the same service. In a rehearsal, the key then doubles as the client token. */
const isOneService = ({ settings: { baseUrl, legacyBaseUrl } }: Context): boolean =>
  isSameOrigin(new URL(legacyBaseUrl.value), new URL(baseUrl.value));

/** Supplies keys from the settings or from a key command. */
const storedKey =
  (context: Context): KeySource =>
  async ({ auth }) => {
    const { legacyToken } = context.settings;
    if (auth === 'basic' && legacyToken) return legacyToken.value;
    const key = (await context.apiKey())?.value;
    return auth === 'bearer' || key === undefined ? key : asClientToken(context, key);
  };

/** The local profile's minted key. */
const mintedKey =
  (context: Context, minted: () => Promise<string>): KeySource =>
  async ({ auth }) => {
    if (auth === 'bearer') return minted();
    return isOneService(context) ? asClientToken(context, await minted()) : undefined;
  };

const asClientToken = (context: Context, key: string): string | undefined =>
  isOneService(context) && keyMode(key) === 'test' ? key : undefined;

/**
 * Mints the local profile's key on first use, with a note. If two processes race, both use the key that was stored
 * first, and only the process that stored it prints the note. Saves the sandbox's example address as `home` if no
 * address is saved yet.
 */
async function localKey(context: Context, client: Client): Promise<string> {
  const { body } = await client.call('sandbox.mint', { body: {} });
  const store = await context.store();
  // Save the address first, because a process that finds the key assumes that everything else is in place.
  const isExampleSaved = await store.saveExample('home', own(body.example_order, 'shipping_address'));
  const { withKey } = await import('../../config/keys.ts');
  const storedAt = new Date(context.clock.now()).toISOString();
  let key = body.api_key;
  await store.setProfile(localProfile, (before = { base_url: embeddedUrl }) => {
    // Another process may have pointed the profile at a different service, or given it a key command.
    if (before.base_url !== embeddedUrl || before.key_command) return before;
    key = before.api_key ?? body.api_key;
    return before.api_key === undefined ? withKey(before, key, storedAt) : before;
  });
  if (key === body.api_key) context.note(`minted a sandbox key ${maskKey(key)} for profile ${localProfile}`);
  if (isExampleSaved) context.note("saved the sandbox's example address as home");
  return key;
}

/**
 * Opens the transport of a run. Each API surface is reached either in-process or over the network. The transport also
 * reads the service's clock from the responses.
 */
async function openTransport(context: Context): Promise<Transport> {
  const { baseUrl, legacyBaseUrl } = context.settings;
  const isEmbedded = baseUrl.value === embeddedUrl;
  const service = new URL(baseUrl.value);
  const main = pacedTransport(
    hearing(await transportTo(context, isEmbedded), service, context),
    context.pace,
  );
  if ((legacyBaseUrl.value === embeddedUrl) === isEmbedded) return main;
  const legacy = await transportTo(context, !isEmbedded);
  return {
    send: (request) => ((request.url.protocol === embeddedUrl) === isEmbedded ? main : legacy).send(request),
    close: async () => void (await Promise.all([main.close(), legacy.close()])),
  };
}

async function transportTo({ settings, signal }: Context, isEmbedded: boolean): Promise<Transport> {
  if (!isEmbedded) {
    const { NetworkTransport } = await import('../../http/transport/network.ts');
    return new NetworkTransport({ proxy: settings.proxy });
  }
  const { brokenOff, embeddedTransport } = await import('../../http/transport/embedded.ts');
  const { openEmbeddedSandbox } = await import('../../sandbox-door.ts');
  const sandbox = await openEmbeddedSandbox(settings.folders.state, {
    ...settings.sandbox,
    readsCopy: true,
    signal,
  });
  const handle: EmbeddedHandler = async (request) => {
    const reply = await sandbox.send(request);
    if (reply.kind === 'reset') throw new TransportFailure('unknown', 'the connection was reset');
    const { response } = reply;
    return reply.kind === 'whole' ? response : { ...response, body: brokenOff(response.body) };
  };
  return embeddedTransport(handle, { close: () => sandbox.close() });
}
