import { addressKind } from '../../platform/net/addresses.ts';
import { isOwnHost } from './hosts.ts';
import { headerOf, type SandboxRequest } from './wire.ts';

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
