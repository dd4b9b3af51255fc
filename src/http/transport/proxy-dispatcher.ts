import type { buildConnector, Dispatcher, Pool as PoolType } from 'undici';
import { basicCredentials } from '../../platform/net/urls.ts';
import { networkFailure } from '../response.ts';
import { type Timeouts, TransportFailure } from './transport.ts';
import { loadProxying } from './undici-internals.ts';

interface Options {
  readonly maxHeaderSize: number;
  readonly timeouts: Timeouts;
}

/** Connects through a proxy: a CONNECT tunnel for https, forwarding for plain http. */
export async function proxyDispatcher(proxy: URL, { maxHeaderSize, timeouts }: Options): Promise<Dispatcher> {
  const { connect, Pool, ProxyAgent } = await loadProxying();
  const { connectMs: timeout, headersMs: headersTimeout } = timeouts;
  return new ProxyAgent({
    uri: proxy.href,
    // If a user has no password, undici would send no credentials at all.
    ...(proxy.username !== '' && { token: basicCredentials(proxy) }),
    proxyTunnel: false,
    proxyTls: { timeout },
    requestTls: { timeout },
    // Full undici adds `connect` to every dispatcher. The separate files of undici do not, so add `connect` here.
    clientFactory: (origin, options) =>
      Object.assign(new Pool(origin, { ...options, headersTimeout }), { connect }),
    factory: (origin, options) => {
      // undici types these options as `Object`. They are in fact the options of a pool, with the tunnel as the
      // connector.
      const { connect: tunnel, ...others } = options as PoolType.Options;
      return new Pool(origin, {
        ...others,
        maxHeaderSize,
        ...(typeof tunnel === 'function' && { connect: tellingConnector(tunnel, proxy) }),
      });
    },
  });
}

/**
 * Adds the name of the proxy to connection failures. undici treats a plain socket error as temporary and would
 * reconnect forever. An error of our own type ends the request.
 */
function tellingConnector(connect: buildConnector.connector, proxy: URL): buildConnector.connector {
  return (options, callback) =>
    connect(options, (...[error, socket]) => {
      if (error) callback(proxyFailure(error, proxy), null);
      else callback(null, socket);
    });
}

function proxyFailure(error: Error, proxy: URL): TransportFailure {
  const status = /^Proxy response \((\d+)\)/.exec(error.message)?.[1];
  const { message, isPermanent } = networkFailure(error, 'not_sent');
  const what = status === undefined ? message : `it returned ${status} to CONNECT`;
  return new TransportFailure('not_sent', `through the proxy ${proxy.host}: ${what}`, {
    isPermanent: isPermanent || status?.startsWith('4') === true,
    cause: error,
  });
}
