import type { Context } from './context.ts';
import { own } from './contract/json.ts';
import type { Auth } from './contract/operation.ts';
import { type OperationName, operations } from './contract/operations/index.ts';
import { isSameOrigin } from './http/address.ts';
import { type Client, createClient } from './http/client.ts';
import { curlCommand } from './http/curl.ts';
import { operationOf, type RawRequest } from './http/raw.ts';
import type { Transport } from './http/transport.ts';
import { orderKey, withOrderKeys } from './order-keys.ts';
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
  // Of a rehearsal the key is the client token too, where both surfaces are one service.
  const isOneService = isSameOrigin(new URL(settings.legacyBaseUrl.value), new URL(settings.baseUrl.value));
  const make = (apiKey: string | undefined, onWritten: (() => void) | undefined = wrote): Client => {
    const ownKey = isOneService && apiKey !== undefined && keyMode(apiKey) === 'test' ? apiKey : undefined;
    const legacyToken = settings.legacyToken?.value ?? ownKey;
    return createClient({ ...options, trace, apiKey, legacyToken, onWritten });
  };
  const client = make(settings.apiKey?.value);
  const forOrder = (keyed: Client): Client =>
    withOrderKeys(
      keyed,
      (id) => orderKey(context, id),
      (key) => (preview ? previewing(make(key), preview) : make(key)),
    );
  if (preview) return { client: forOrder(previewing(client, preview)), ready: async () => {}, close };
  const mints =
    !settings.apiKey && settings.profile.value === localProfile && settings.baseUrl.value === embeddedUrl;
  if (!mints) return { client: forOrder(client), ready: async () => {}, close };
  let keyed: Promise<Client> | undefined;
  const getKeyed = (): Promise<Client> => {
    keyed ??= localKey(
      context,
      make(undefined, () => {}),
    ).then((key) => make(key));
    return keyed;
  };
  const auths = isOneService && !settings.legacyToken ? ['bearer', 'basic'] : ['bearer'];
  const mintingClient = minting(client, getKeyed, auths);
  return { client: forOrder(mintingClient), ready: async () => void (await getKeyed()), close };
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
    const { NetworkTransport } = await import('./http/network-transport.ts');
    const transport = new NetworkTransport({ proxy: settings.proxy });
    return { transport, close: () => transport.close() };
  }
  const { embeddedTransport } = await import('./http/embedded-transport.ts');
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

/** A client that gets its key when an operation first needs one; `auths` are those that need the key. */
function minting(keyless: Client, getKeyed: () => Promise<Client>, auths: readonly string[]): Client {
  const clientFor = async (name: OperationName): Promise<Client> =>
    auths.includes(operations[name].auth) ? getKeyed() : keyless;
  return {
    ...keyless,
    call: async (name, input, options) => (await clientFor(name)).call(name, input, options),
    stream: async (name, input, options) => (await clientFor(name)).stream(name, input, options),
    raw: async (request, options) =>
      (auths.includes(authOf(request)) ? await getKeyed() : keyless).raw(request, options),
  };
}

/** Of an unknown path the credential of its surface. */
const authOf = (request: RawRequest): Auth =>
  operationOf(request)?.auth ?? (request.surface === 'legacy' ? 'basic' : 'bearer');

/** A client that shows its requests in place of sending them. With `request` reads are sent: they change nothing. */
function previewing(client: Client, preview: 'curl' | 'request'): Client {
  const show = (described: ReturnType<Client['describe']>): never => {
    throw new RequestPreview(
      preview === 'curl' ? curlCommand(described) : `${JSON.stringify(described, null, 2)}\n`,
    );
  };
  return {
    ...client,
    call: async (name, input, options) =>
      preview === 'request' && operations[name].method === 'GET'
        ? client.call(name, input, options)
        : show(client.describe(name, input)),
    stream: async (name, input, options) =>
      preview === 'request' ? client.stream(name, input, options) : show(client.describe(name, input)),
    raw: async (request, options) =>
      preview === 'request' && /^(?:get|head)$/i.test(request.method)
        ? client.raw(request, options)
        : show(client.describeRaw(request)),
  };
}
