import type { Context } from './context.ts';
import { own } from './contract/json.ts';
import { isSameOrigin } from './http/address.ts';
import { type Client, type ClientOptions, createClient } from './http/client.ts';
import { firstOf, type KeySource } from './http/credentials.ts';
import { curlCommand } from './http/curl.ts';
import type { Described } from './http/describe.ts';
import { previewKeys, previewTransport } from './http/transport/preview.ts';
import type { Transport } from './http/transport/transport.ts';
import { orderKeys } from './orders/order-keys.ts';
import { redactor } from './redact/redactor.ts';
import { RequestPreview } from './request-preview.ts';
import { keyMode, maskKey } from './settings/keys.ts';
import { embeddedUrl, localProfile } from './settings/stored.ts';

export type Preview = 'curl' | 'request' | undefined;

interface Opened {
  readonly client: Client;
  /** Gets the local profile its key, if it has none yet. */
  ready(): Promise<void>;
  close(): Promise<void>;
}

/**
 * The client of one run, over the network or into the embedded sandbox, with the key that the settings name.
 * @param wrote is called when the service has carried out a write; getting the local profile its key is none.
 */
export async function openClient(context: Context, preview: Preview, wrote: () => void): Promise<Opened> {
  const { settings } = context;
  const { transport: bare, close } = await openTransport(context);
  const transport = tellingTime(bare, context);
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
    return { client: make(keys, shown), ready: async () => {}, close };
  }
  if (!mints(context)) return { client: make(stored), ready: async () => {}, close };
  const keyless = make(() => undefined, { onWritten: () => {} });
  const minted = once(() => localKey(context, keyless));
  const client = make(firstOf(stored, mintedKey(context, minted)));
  return { client, ready: async () => void (await minted()), close };
}

/** The local profile of the embedded sandbox gets its key when a request first needs one. */
const mints = ({ settings }: Context): boolean =>
  !settings.apiKey && settings.profile.value === localProfile && settings.baseUrl.value === embeddedUrl;

/** Of a rehearsal the key is the client token too, where both surfaces are one service. */
const isOneService = ({ settings: { baseUrl, legacyBaseUrl } }: Context): boolean =>
  isSameOrigin(new URL(legacyBaseUrl.value), new URL(baseUrl.value));

/** The keys that the settings name. */
const storedKey =
  (context: Context): KeySource =>
  ({ auth }) => {
    const { apiKey, legacyToken } = context.settings;
    if (auth === 'bearer') return apiKey?.value;
    return legacyToken?.value ?? (apiKey && asClientToken(context, apiKey.value));
  };

/** The key that the local profile gets. */
const mintedKey =
  (context: Context, minted: () => Promise<string>): KeySource =>
  async ({ auth }) => {
    if (auth === 'bearer') return minted();
    return isOneService(context) ? asClientToken(context, await minted()) : undefined;
  };

const asClientToken = (context: Context, key: string): string | undefined =>
  isOneService(context) && keyMode(key) === 'test' ? key : undefined;

function once<T>(work: () => Promise<T>): () => Promise<T> {
  let running: Promise<T> | undefined;
  return () => {
    running ??= work();
    return running;
  };
}

function showRequest(described: Described, preview: 'curl' | 'request'): never {
  throw new RequestPreview(
    preview === 'curl' ? curlCommand(described) : `${JSON.stringify(described, null, 2)}\n`,
  );
}

/** The service inside this process or over the network; each surface may be either. */
async function openTransport(context: Context): Promise<OpenTransport> {
  const { baseUrl, legacyBaseUrl } = context.settings;
  const isEmbedded = baseUrl.value === embeddedUrl;
  const main = await transportTo(context, isEmbedded);
  if ((legacyBaseUrl.value === embeddedUrl) === isEmbedded) return main;
  const other = await transportTo(context, !isEmbedded);
  const send: Transport['send'] = (request) =>
    ((request.url.protocol === embeddedUrl) === isEmbedded ? main : other).transport.send(request);
  const close = async (): Promise<void> => {
    await Promise.all([main.close(), other.close()]);
  };
  return { transport: { send, close }, close };
}

/** A transport whose answers from the service tell its time. */
function tellingTime(transport: Transport, { settings, clock, serviceClock }: Context): Transport {
  const service = new URL(settings.baseUrl.value);
  return {
    close: () => transport.close(),
    async send(request) {
      const sentAt = clock.now();
      const answer = await transport.send(request);
      if (isSameOrigin(request.url, service)) serviceClock.heard(answer.headers.date, sentAt);
      return answer;
    },
  };
}

interface OpenTransport {
  readonly transport: Transport;
  close(): Promise<void>;
}

async function transportTo({ settings, signal }: Context, isEmbedded: boolean): Promise<OpenTransport> {
  if (!isEmbedded) {
    const { NetworkTransport } = await import('./http/transport/network.ts');
    const transport = new NetworkTransport({ proxy: settings.proxy });
    return { transport, close: () => transport.close() };
  }
  const { embeddedTransport } = await import('./http/transport/embedded.ts');
  const { openEmbeddedSandbox } = await import('./sandbox-door.ts');
  const sandbox = await openEmbeddedSandbox(settings.folders.state, {
    ...settings.sandbox,
    readsCopy: true,
    signal,
  });
  return { transport: embeddedTransport(sandbox.handle), close: () => sandbox.close() };
}

async function debugTrace(context: Context) {
  const { createTrace } = await import('./http/trace.ts');
  return createTrace(context.note);
}

/**
 * The local profile's key: minted when it is first needed, and told so. Of two processes at once, the first one's key
 * is kept by both, and told by that one. The sandbox's example address is saved as `home` where no address is saved yet.
 */
async function localKey(context: Context, client: Client): Promise<string> {
  const { body } = await client.call('sandbox.mint', { body: {} });
  const store = await context.store();
  await store.setProfile(localProfile, (before) => ({
    base_url: embeddedUrl,
    ...before,
    api_key: before?.api_key ?? body.api_key,
  }));
  const key = store.profile(localProfile)?.api_key ?? body.api_key;
  if (key === body.api_key) context.note(`minted a sandbox key ${maskKey(key)} for profile ${localProfile}`);
  if (await store.saveExample('home', own(body.example_order, 'shipping_address')))
    context.note("saved the sandbox's example address as home");
  return key;
}
