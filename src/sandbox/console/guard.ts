import { html } from '../../platform/html.ts';
import { shopPath } from '../config.ts';
import { bringUpToDate } from '../control/due-transitions.ts';
import { otherMachine, stranger } from '../server/hosts.ts';
import { codeParameter, unknownUser } from '../server/owner.ts';
import { readQuery, readTarget } from '../server/request.ts';
import type { SandboxResponse } from '../server/wire.ts';
import { htmlPage } from './pages/html.ts';
import type { AnyPageRequest, Page } from './pages/page.ts';
import type { PageName } from './pages/routes.ts';

/**
 * A page of the console: it shows what is, and only to the user who serves it, on the same machine. The service itself
 * requires a key; the console does not.
 */
export const forThisMachine =
  <N extends PageName>(page: Page<N>): Page<N> =>
  async (visit) => {
    const { service, request } = visit;
    const admission = admitted(visit);
    if (admission) return admission;
    const why = stranger(request, service.config.baseUrl);
    if (why !== undefined) return refused(why);
    // What changes something finds all as it is now.
    const now = service.clock.now();
    const patienceMs = request.method === 'GET' ? service.patience.forRead(now) : Number.POSITIVE_INFINITY;
    await bringUpToDate(service, now, patienceMs);
    return page(visit);
  };

/**
 * Leads a browser that has opened the printed address on to the page itself: what the address carries is a cookie from
 * there on, and stands in no address, no history and no referrer.
 */
function admitted({ service, request, search }: AnyPageRequest): SandboxResponse | undefined {
  const [code] = request.method === 'GET' ? (readQuery(search)[codeParameter] ?? []) : [];
  if (code === undefined || otherMachine(request, service.config.baseUrl) !== undefined) return undefined;
  const cookie = request.sender?.admit(code);
  if (cookie === undefined && request.sender?.stranger() !== undefined) return undefined;
  return {
    status: 303,
    headers: {
      location: readTarget(request.target).pathname,
      // By its type the log of requests leaves a page out.
      'content-type': 'text/html',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      ...(cookie !== undefined && { 'set-cookie': cookie }),
    },
    body: null,
  };
}

/** Whether a page may show what only the user who serves it is to see. */
export const isOfThisMachine = ({ service, request }: AnyPageRequest): boolean =>
  stranger(request, service.config.baseUrl) === undefined;

const refused = (why: string) =>
  htmlPage(
    'For its owner only',
    html`<p class="lead">The console shows every order and key of this sandbox, so it is open only to the user who serves it, on the same machine: ${why}.</p>
${
  why === unknownUser &&
  html`<p>Open the address that <code>errand sandbox serve</code> printed. It opens the console in one browser; serve it again for another.</p>
`
}<p>The service itself is open as usual, and so is <a href="${shopPath}">the shop</a>.</p>`,
    { status: 403, narrow: true },
  );
