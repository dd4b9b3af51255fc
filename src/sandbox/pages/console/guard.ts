import { html } from '../../../markup.ts';
import { addressKind } from '../../../network/addresses.ts';
import { shopPath } from '../../config.ts';
import { bringUpToDate } from '../../control/bring-up-to-date.ts';
import { isOwnHost } from '../../http/hosts.ts';
import { headerOf, type SandboxRequest } from '../../http/wire.ts';
import { htmlPage } from '../html.ts';
import type { AnyPageRequest, Page } from '../page.ts';
import type { PageName } from '../routes.ts';

/**
 * A page of the console: it shows what is, and only to the machine that it runs on. The service itself requires a key;
 * the console does not.
 */
export const forThisMachine =
  <N extends PageName>(page: Page<N>): Page<N> =>
  async (visit) => {
    const { service, request } = visit;
    const why = stranger(request, service.config.baseUrl);
    if (why !== undefined) return refused(why);
    await bringUpToDate(service, service.clock.now());
    return page(visit);
  };

/** Whether a page may show what only the machine itself is to see. */
export const isOfThisMachine = ({ service, request }: AnyPageRequest): boolean =>
  stranger(request, service.config.baseUrl) === undefined;

const refused = (why: string) =>
  htmlPage(
    'For its own machine only',
    html`<p class="lead">The console shows every order and key of this sandbox, so it is open only to the machine it runs on: ${why}.</p>
<p>The service itself is open as usual, and so is <a href="${shopPath}">the shop</a>.</p>`,
    { status: 403, narrow: true },
  );

/** Headers by which a proxy says that it speaks for someone else. */
const proxied =
  /^(?:forwarded|via|x-forwarded(?:-.+)?|x-real-ip|(?:x|true|fastly|fly)-client-ip|cf-connecting-ip)$/;

/** Why a request is not one of this machine's own; undefined for one that is. */
function stranger(request: SandboxRequest, baseUrl: string): string | undefined {
  const { remoteAddress } = request;
  if (addressKind(remoteAddress) !== 'loopback') return 'this request comes from another one';
  if (Object.keys(request.headers).some((name) => proxied.test(name)))
    return 'this request comes through a proxy';
  // A name that another site has made lead here would let that site read all of it.
  const host = headerOf(request, 'host');
  if (host === undefined || isOwnHost(host, baseUrl)) return undefined;
  return 'this address is not its own. Open it as localhost';
}
