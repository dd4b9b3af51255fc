import { connect } from 'node:net';
import { type ProxySettings, proxyFor } from './proxy.ts';

export interface TriedProxy {
  /** Without the credentials that it may carry. */
  readonly proxy: string;
  /** Why it cannot be reached; undefined where it can. */
  readonly trouble: string | undefined;
}

/**
 * Whether the proxy that requests to a URL go through takes connections; undefined where they go through none.
 * @throws UsageError for a proxy that is not an http or https URL.
 */
export async function tryProxy(
  url: URL,
  proxies: ProxySettings,
  timeoutMs: number,
): Promise<TriedProxy | undefined> {
  const proxy = proxyFor(url, proxies);
  if (!proxy) return undefined;
  const port = Number(proxy.port || (proxy.protocol === 'https:' ? 443 : 80));
  const host = proxy.hostname.replace(/^\[|\]$/g, '');
  const trouble = await new Promise<string | undefined>((resolve) => {
    const socket = connect({ host, port });
    socket.setTimeout(timeoutMs, () => end(`it does not respond within ${timeoutMs / 1000} s`));
    socket.on('connect', () => end(undefined));
    socket.on('error', (error) => end(error.message));
    function end(reason: string | undefined): void {
      socket.destroy();
      resolve(reason);
    }
  });
  return { proxy: `${proxy.protocol}//${proxy.host}`, trouble };
}
