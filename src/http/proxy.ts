import { connect } from 'node:net';
import { UsageError } from '../platform/errors.ts';
import { isLoopback } from '../platform/net/lookup.ts';
import { parseUrl } from '../platform/net/urls.ts';

/** Proxies from the settings. This module never reads environment variables. */
export interface ProxySettings {
  readonly https?: string | undefined;
  readonly http?: string | undefined;
  /** Hosts that are reached directly: `*`, `host`, `.domain`, `host:port`, separated by commas or spaces. */
  readonly none?: string | undefined;
}

/**
 * Selects the proxy for a URL, if any. Requests to loopback addresses never use a proxy. Pure.
 * @throws UsageError for a proxy that is not an http or https URL, or whose user or password cannot be decoded.
 */
export function proxyFor(url: URL, proxies: ProxySettings): URL | undefined {
  const text = url.protocol === 'https:' ? proxies.https : proxies.http;
  if (!text || isLoopback(url.hostname) || isExempt(url, proxies.none ?? '')) return undefined;
  const complete = /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const proxy = parseUrl(complete);
  if (proxy && (proxy.protocol === 'http:' || proxy.protocol === 'https:') && proxy.hostname !== '') {
    if (isDecodable(proxy.username) && isDecodable(proxy.password)) return proxy;
    throw new UsageError(
      `the proxy for ${url.protocol}// addresses has a % that is no escape in its user or password`,
      {
        hint: 'In HTTPS_PROXY or HTTP_PROXY write it %25.',
      },
    );
  }
  throw new UsageError(`the proxy for ${url.protocol}// addresses is not an http or https URL`, {
    hint: 'Correct HTTPS_PROXY or HTTP_PROXY, or unset it.',
  });
}

function isDecodable(text: string): boolean {
  try {
    // Uses the result, because the build drops a call whose result is unused.
    return decodeURIComponent(text).length >= 0;
  } catch {
    return false;
  }
}

function isExempt(url: URL, none: string): boolean {
  const port = url.port || (url.protocol === 'https:' ? '443' : '80');
  const host = url.hostname.toLowerCase();
  return none
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .some((entry) => {
      if (entry === '*') return true;
      const [, name = entry, onlyPort] = /^(\[.+\]|[^:]+):(\d+)$/.exec(entry) ?? [];
      if (onlyPort !== undefined && onlyPort !== port) return false;
      const bare = name.replace(/^\*?\./, '');
      return host === bare || host === `[${bare}]` || host.endsWith(`.${bare}`);
    });
}

export interface TriedProxy {
  /** Proxy URL without credentials. */
  readonly proxy: string;
  /** Why the proxy cannot be reached; undefined if it can. */
  readonly problem: string | undefined;
}

/**
 * Whether the proxy for a URL accepts connections; undefined if there is no proxy.
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
  const problem = await new Promise<string | undefined>((resolve) => {
    const socket = connect({ host, port });
    socket.setTimeout(timeoutMs, () => end(`it does not respond within ${timeoutMs / 1000} s`));
    socket.on('connect', () => end(undefined));
    socket.on('error', (error) => end(error.message));
    function end(reason: string | undefined): void {
      socket.destroy();
      resolve(reason);
    }
  });
  return { proxy: `${proxy.protocol}//${proxy.host}`, problem };
}
