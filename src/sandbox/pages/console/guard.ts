import { html } from '../../../markup.ts';
import { shopPath } from '../../config.ts';
import { bringUpToDate } from '../../control/bring-up-to-date.ts';
import { stranger } from '../../http/own-machine.ts';
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
    // What changes something finds all as it is now.
    const now = service.clock.now();
    const patienceMs = request.method === 'GET' ? service.patience.forRead(now) : Number.POSITIVE_INFINITY;
    await bringUpToDate(service, now, patienceMs);
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
