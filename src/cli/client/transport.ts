import { embeddedUrl } from '../../config/stored.ts';
import { isSameOrigin } from '../../http/address.ts';
import type { EmbeddedHandler } from '../../http/transport/embedded.ts';
import { pacedTransport } from '../../http/transport/paced.ts';
import { type Transport, TransportFailure } from '../../http/transport/transport.ts';
import type { Context } from '../../run/context.ts';

/**
 * Carries the requests of one run: to the service inside this process or over the network, each surface to either. The
 * service's clock is read off its responses.
 */
export async function openTransport(context: Context): Promise<Transport> {
  const { baseUrl, legacyBaseUrl } = context.settings;
  const isEmbedded = baseUrl.value === embeddedUrl;
  const main = pacedTransport(readingClock(await transportTo(context, isEmbedded), context), context.pace);
  if ((legacyBaseUrl.value === embeddedUrl) === isEmbedded) return main;
  const legacy = await transportTo(context, !isEmbedded);
  return {
    send: (request) => ((request.url.protocol === embeddedUrl) === isEmbedded ? main : legacy).send(request),
    close: async () => void (await Promise.all([main.close(), legacy.close()])),
  };
}

function readingClock(transport: Transport, { settings, clock, serviceClock }: Context): Transport {
  const service = new URL(settings.baseUrl.value);
  return {
    close: () => transport.close(),
    async send(request) {
      const sentAt = clock.now();
      const response = await transport.send(request);
      if (isSameOrigin(request.url, service)) serviceClock.heard(response.headers.date, sentAt);
      return response;
    },
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
