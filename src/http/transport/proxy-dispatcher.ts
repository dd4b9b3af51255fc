import type { buildConnector, Dispatcher, Pool as PoolType } from 'undici';
import { basicCredentials } from '../../platform/net/urls.ts';
import { networkFailure } from '../response.ts';
import { type Timeouts, TransportFailure } from './transport.ts';
import { loadProxying } from './undici-internals.ts';

interface Options {
  readonly maxHeaderSize: number;
  readonly timeouts: Timeouts;
}

/** Connections through a proxy: a CONNECT tunnel to https, forwarding to plain http. */
export async function proxyDispatcher(proxy: URL, { maxHeaderSize, timeouts }: Options): Promise<Dispatcher> {
  const { connect, Pool, ProxyAgent } = await loadProxying();
  const { connectMs: timeout, headersMs: headersTimeout } = timeouts;
  return new ProxyAgent({
    uri: proxy.href,
    // undici would give a user without a password none.
    ...(proxy.username !== '' && { token: basicCredentials(proxy) }),
    proxyTunnel: false,
    proxyTls: { timeout },
    requestTls: { timeout },
    // The whole of undici gives every dispatcher this method; its files by themselves do not.
    clientFactory: (origin, options) =>
      Object.assign(new Pool(origin, { ...options, headersTimeout }), { connect }),
    factory: (origin, options) => {
      // undici calls these `Object`; they are the options of a pool, with the tunnel as their connector.
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
 * Names the proxy in each failure to connect. undici takes a bare socket error for one that mends itself and would
 * connect again for ever; a failure of ours ends the request.
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
