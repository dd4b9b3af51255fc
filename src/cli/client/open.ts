import { type Client, type ClientOptions, createClient } from '../../http/client.ts';
import { firstOf, type KeySource } from '../../http/credentials.ts';
import { curlCommand } from '../../http/curl.ts';
import type { Described } from '../../http/describe.ts';
import { previewKeys, previewTransport } from '../../http/transport/preview.ts';
import { orderKeys } from '../../orders/order-keys.ts';
import { redactor } from '../../platform/redact/redactor.ts';
import { once } from '../../platform/wait/once.ts';
import type { Context } from '../../run/context.ts';
import { RequestPreview } from '../../run/request-preview.ts';
import { localKey, mintedKey, mintsKey, storedKey } from './keys.ts';
import { openTransport } from './transport.ts';

export type Preview = 'curl' | 'request' | undefined;

interface Opened {
  readonly client: Client;
  /** Gets the local profile its key, if it has none yet. */
  ready(): Promise<void>;
}

/**
 * The client of one run, over the network or into the embedded sandbox, with the key that the settings name.
 * @param wrote is called when the service has carried out a write; getting the local profile its key is none.
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
