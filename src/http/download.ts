import { isLoopback } from '../platform/network/loopback.ts';
import { hasCredentials } from '../platform/network/plain-base.ts';
import { isSafeToSend, isSameOrigin } from './address.ts';
import { UnavailableError } from './errors.ts';
import type { Prepared, Service } from './request.ts';

/** Whether a link leads to a host that the user did not name; all of this machine is one host. Pure. */
export function isForeign(link: URL, { base, legacyBase }: Pick<Service, 'base' | 'legacyBase'>): boolean {
  return ![base, legacyBase].some(
    (own) => own && (isSameOrigin(link, own) || (isLoopback(link.hostname) && isLoopback(own.hostname))),
  );
}

/**
 * The request for a signed link (a return label): the link is the permission, so no credential goes with it.
 * @throws UnavailableError for a link that is not a web address, or plain http to another machine.
 */
export function downloadRequest(
  link: string,
  { userAgent }: Pick<Service, 'userAgent'>,
  allowPlainHttp: boolean,
): Prepared {
  const url = URL.canParse(link) ? new URL(link) : undefined;
  if (!url || !isSafeToSend(url, allowPlainHttp) || hasCredentials(url)) {
    throw new UnavailableError('the service sent a link that is not an https address', { retryable: false });
  }
  return {
    method: 'GET',
    url,
    isLink: true,
    headers: { accept: '*/*', 'user-agent': userAgent },
    auth: 'none',
    retry: 'safe',
    movesMoney: false,
    refusals: [],
  };
}
