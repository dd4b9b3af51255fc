import { addressKind } from '../../platform/net/addresses.ts';
import { isLoopback } from '../../platform/net/lookup.ts';
import { isUrl, parseUrl } from '../../platform/net/urls.ts';
import type { SandboxConfig } from '../config.ts';
import { prefersHtml } from './browser.ts';
import { json } from './refusal.ts';
import { headerOf, type SandboxRequest, type SandboxResponse } from './wire.ts';

/** Whether a `Host` refers to this machine or to the sandbox's configured address. Pure. */
function isOwnHost(host: string, baseUrl: string): boolean {
  const url = hostUrl(host);
  return url !== undefined && (url.host === new URL(baseUrl).host || isLoopback(url.hostname));
}

const hostUrl = (host: string): URL | undefined => {
  const address = `http://${host}`;
  return /^[^\s/\\?#@]{1,300}$/.test(host) ? parseUrl(address) : undefined;
};

/** Caches the last accepted host, because a client sends the same host every time. */
let last: { readonly host: string; readonly baseUrl: string } | undefined;

/**
 * Refuses a request for a foreign host; returns undefined if the host is accepted. This prevents DNS rebinding, by
 * which a page from another site could read every response. Such a page cannot send the name of a configured host.
 */
export async function refusedHost(
  request: SandboxRequest,
  { baseUrl, allowedHosts }: Pick<SandboxConfig, 'baseUrl' | 'allowedHosts'>,
): Promise<SandboxResponse | undefined> {
  // An absolute target takes precedence over the header (RFC 9112, 3.2.2). A page cannot make a browser send an
  // absolute target.
  const host = /^https?:\/\/([^/?#]*)/i.exec(request.target)?.[1] ?? headerOf(request, 'host');
  // Browsers always send a `Host` header. Only in-process calls have no such header.
  if (host === undefined || (host === last?.host && baseUrl === last.baseUrl)) return undefined;
  if (isOwnHost(host, baseUrl)) {
    last = { host, baseUrl };
    return undefined;
  }
  const url = hostUrl(host);
  const isAllowed = url && (allowedHosts.includes(url.host) || allowedHosts.includes(url.hostname));
  if (isAllowed || (url && isReachedAt(url, request.localAddress))) return undefined;
  const named = url?.hostname ?? 'that name';
  const message = `This sandbox does not serve ${named}. \`errand sandbox serve --allow-host ${url?.hostname ?? 'NAME'}\` lets it.`;
  if (!prefersHtml(headerOf(request, 'accept')))
    return json(421, { code: 'bad_request', message, details: {} });
  const [{ htmlPage }, { html }] = await Promise.all([
    import('../console/html.ts'),
    import('../../platform/html.ts'),
  ]);
  return htmlPage('Not its name', html`<p class="lead">${message}</p>`, { status: 421, narrow: true });
}

/** Whether the host is the IP address at which the connection arrived. An IP address cannot be rebound. */
function isReachedAt({ hostname }: URL, localAddress = ''): boolean {
  const mapped = localAddress.replace(/^::ffff:(?=\d+\.)/, '');
  return localAddress !== '' && (hostname === mapped || hostname === `[${localAddress}]`);
}

/** Headers that indicate a proxy acting for another client. */
const proxied =
  /^(?:forwarded|via|x-forwarded(?:-.+)?|x-real-ip|(?:x|true|fastly|fly)-client-ip|cf-connecting-ip)$/;

/** Why a request is not from the local user who runs the sandbox; undefined if the request is from that user. */
export const stranger = (request: SandboxRequest, baseUrl: string): string | undefined =>
  otherMachine(request, baseUrl) ?? request.sender?.stranger();

/** Why a request is not from this machine; undefined if the request is from this machine. */
export function otherMachine(request: SandboxRequest, baseUrl: string): string | undefined {
  const { remoteAddress } = request;
  if (addressKind(remoteAddress) !== 'loopback') return 'this request comes from another machine';
  if (Object.keys(request.headers).some((name) => proxied.test(name)))
    return 'this request comes through a proxy';
  // Prevents DNS rebinding, which would let another site read all responses.
  const host = headerOf(request, 'host');
  if (host === undefined || isOwnHost(host, baseUrl)) return undefined;
  return 'this address is not its own. Open it as localhost';
}

/**
 * Whether a browser sent the request on behalf of a page from another site. Only browsers send the headers that reveal
 * this.
 */
export function isCrossOrigin(request: SandboxRequest): boolean {
  const site = headerOf(request, 'sec-fetch-site');
  if (site !== undefined && site !== 'none' && site !== 'same-origin') return true;
  const origin = headerOf(request, 'origin');
  if (origin === undefined) return false;
  return !isUrl(origin) || new URL(origin).host !== headerOf(request, 'host');
}
