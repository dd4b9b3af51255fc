import { addressKind } from '../../platform/net/addresses.ts';
import { isLoopback } from '../../platform/net/lookup.ts';
import type { SandboxConfig } from '../config.ts';
import { prefersHtml } from './browser.ts';
import { json } from './refusal.ts';
import { headerOf, type SandboxRequest, type SandboxResponse } from './wire.ts';

/** Whether a `Host` names this machine, or the address that the sandbox shows as its own. Pure. */
function isOwnHost(host: string, baseUrl: string): boolean {
  const url = hostUrl(host);
  return url !== undefined && (url.host === new URL(baseUrl).host || isLoopback(url.hostname));
}

const hostUrl = (host: string): URL | undefined => {
  const address = `http://${host}`;
  return /^[^\s/\\?#@]{1,300}$/.test(host) && URL.canParse(address) ? new URL(address) : undefined;
};

/** A client names the same host each time. */
let last: { readonly host: string; readonly baseUrl: string } | undefined;

/**
 * The refusal of a request for another host; undefined for one of our own. A page of another site can make its own name
 * lead here, and would then read every response. It cannot name a host that the sandbox was configured with.
 */
export async function refusedHost(
  request: SandboxRequest,
  { baseUrl, allowedHosts }: Pick<SandboxConfig, 'baseUrl' | 'allowedHosts'>,
): Promise<SandboxResponse | undefined> {
  // An absolute target goes before the header (RFC 9112, 3.2.2); a page cannot make a browser send one.
  const host = /^https?:\/\/([^/?#]*)/i.exec(request.target)?.[1] ?? headerOf(request, 'host');
  // No browser leaves it out; a call inside this process has none.
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

/** The address by number that the connection came in at: nobody can make that lead elsewhere. */
function isReachedAt({ hostname }: URL, localAddress = ''): boolean {
  const mapped = localAddress.replace(/^::ffff:(?=\d+\.)/, '');
  return localAddress !== '' && (hostname === mapped || hostname === `[${localAddress}]`);
}

/** Headers by which a proxy says that it speaks for someone else. */
const proxied =
  /^(?:forwarded|via|x-forwarded(?:-.+)?|x-real-ip|(?:x|true|fastly|fly)-client-ip|cf-connecting-ip)$/;

/** Why a request does not come from the user who serves the sandbox, on the same machine; undefined for one that does. */
export const stranger = (request: SandboxRequest, baseUrl: string): string | undefined =>
  otherMachine(request, baseUrl) ?? request.sender?.stranger();

/** Why a request is not one of this machine's own; undefined for one that is. */
export function otherMachine(request: SandboxRequest, baseUrl: string): string | undefined {
  const { remoteAddress } = request;
  if (addressKind(remoteAddress) !== 'loopback') return 'this request comes from another machine';
  if (Object.keys(request.headers).some((name) => proxied.test(name)))
    return 'this request comes through a proxy';
  // A name that another site has made lead here would let that site read all of it.
  const host = headerOf(request, 'host');
  if (host === undefined || isOwnHost(host, baseUrl)) return undefined;
  return 'this address is not its own. Open it as localhost';
}

/** Whether a browser sends a request on behalf of another page than one of this sandbox's own. Programs name no page. */
export function isOfAnotherPage(request: SandboxRequest): boolean {
  const site = headerOf(request, 'sec-fetch-site');
  if (site !== undefined && site !== 'none' && site !== 'same-origin') return true;
  const origin = headerOf(request, 'origin');
  if (origin === undefined) return false;
  return !URL.canParse(origin) || new URL(origin).host !== headerOf(request, 'host');
}
