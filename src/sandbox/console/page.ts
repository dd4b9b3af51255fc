import { type Content, Html, html } from '../../platform/html.ts';
import { shopPath } from '../config.ts';
import { runDueTransitions } from '../control/due-transitions.ts';
import { isCrossOrigin, otherMachine, stranger } from '../server/hosts.ts';
import { codeParameter, unknownUser } from '../server/owner.ts';
import { readQuery, readTarget } from '../server/request.ts';
import type { Service } from '../server/service.ts';
import { headerOf, type SandboxRequest, type SandboxResponse } from '../server/wire.ts';
import { frameOf } from './frame.ts';
import { htmlPage, type PageOptions, siteLinks } from './html.ts';
import { loadTitles } from './products.ts';
import type { PageName, PagePath } from './routes.ts';
import { searchIndexOf } from './search-index.ts';
import { type FrameOptions, type SectionName, sections } from './sections.ts';

interface ConsoleOptions extends Omit<PageOptions, 'links' | 'current' | 'frame'>, FrameOptions {}

/** The header options of each page, for `forThisMachine`, which later inserts the header. */
const framed = new WeakMap<SandboxResponse, FrameOptions>();
const frame = '<!--frame-->';

/** Renders a console page; `forThisMachine` adds its header. @param title is also the heading. */
export function consolePage(
  title: string,
  body: Content,
  { section, isList, query, isDashboard, isShop, ...options }: ConsoleOptions = {},
): SandboxResponse {
  const response = htmlPage(title, body, { ...options, frame: new Html(frame) });
  framed.set(response, {
    ...(section && { section }),
    ...(isList && { isList }),
    ...(query !== undefined && { query }),
    ...(isDashboard && { isDashboard }),
    ...(isShop && { isShop }),
  });
  return response;
}

/** Inserts the header into a console page. */
async function withFrame(
  response: SandboxResponse,
  { service, search }: AnyPageRequest,
): Promise<SandboxResponse> {
  const options = framed.get(response);
  if (!options || typeof response.body !== 'string') return response;
  const header = html`${await frameOf(service, options, search)}`;
  return { ...response, body: response.body.replace(frame, () => header.text) };
}

/** Page for something that does not exist, or no longer exists. @param what a sentence that names what is missing. */
export const notThere = (
  title: string,
  what: string,
  { section, status = 404 }: { readonly section: SectionName; readonly status?: number },
): SandboxResponse =>
  consolePage(
    title,
    html`<p class="lead">${what} <a href="${sections[section].path}">All ${sections[section].text.toLowerCase()}</a></p>`,
    { status, section },
  );

/** URLs of the entries before and after an entry in its list; null at either end. */
interface Siblings {
  readonly newer: string | null;
  readonly older: string | null;
  /** The state of the list, as a query string. */
  readonly query: string;
}

/** Renders links to the list, and to the previous and next entry. @param what the word for one entry. */
export const siblingLinks = (
  section: SectionName,
  what: string,
  { newer, older, query }: Siblings,
): Content =>
  html`<nav class="siblings" aria-label="Neighbours"><a href="${sections[section].path}${query}">${query === '' ? 'All' : 'Back to the'} ${sections[section].text.toLowerCase()}</a> ${
    newer !== null && html`<a href="${newer}" rel="prev">Newer ${what}</a>`
  } ${older !== null && html`<a href="${older}" rel="next">Older ${what}</a>`}</nav>`;

/** A request for a page of any kind. */
export interface AnyPageRequest {
  readonly service: Service;
  readonly request: SandboxRequest;
  readonly path: Readonly<Record<string, string>>;
  /** The query string, without the `?`. */
  readonly search: string;
}

/** A request for a page, with the path parameters of its route. */
interface PageRequest<N extends PageName> extends AnyPageRequest {
  readonly path: PagePath<N>;
}

/** @throws Refusal, DatabaseError. */
export type Page<N extends PageName> = (
  request: PageRequest<N>,
) => SandboxResponse | Promise<SandboxResponse>;

/**
 * Restricts a console page to the user who runs the sandbox, on the same machine. This is needed because the console,
 * unlike the API, requires no key. Runs due transitions before rendering.
 */
export const forThisMachine =
  <N extends PageName>(page: Page<N>): Page<N> =>
  async (visit) => {
    const { service, request } = visit;
    const admission = admitted(visit);
    if (admission) return admission;
    const why = whyRefused(visit);
    if (why !== undefined) return refused(why);
    // Before a mutation, process everything that is due.
    const now = service.clock.now();
    const budgetMs = request.method === 'GET' ? service.readBudget.forRead(now) : Number.POSITIVE_INFINITY;
    await runDueTransitions(service, now, budgetMs);
    searchIndexOf(service).follow();
    await loadTitles(service);
    return withFrame(await page(visit), visit);
  };

/**
 * Responds to a browser that opens the printed URL. Moves the code from the URL into a cookie, and redirects to the URL
 * without the code. This keeps the code out of the address bar, history and referrer.
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
      // The request log skips responses with this content type, because they are pages.
      'content-type': 'text/html',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      ...(cookie !== undefined && { 'set-cookie': cookie }),
    },
    body: null,
  };
}

/** Why a request may not see the console; undefined if it may. A link of another site may lead to it, but no script of one. */
function whyRefused({ service, request }: AnyPageRequest): string | undefined {
  const isOfOtherSite = headerOf(request, 'origin') !== undefined && isCrossOrigin(request);
  return (
    stranger(request, service.config.baseUrl) ??
    (isOfOtherSite ? 'a page of another site sent this request' : undefined)
  );
}

/** Whether a page may show data that only the user running the sandbox may see. */
export const isOfThisMachine = (visit: AnyPageRequest): boolean => whyRefused(visit) === undefined;

/** A page of the shop, which is open to all. The user who runs the sandbox gets it within the console. */
export const sitePage = (
  visit: AnyPageRequest,
  title: string,
  body: Content,
  { isList, ...options }: Pick<ConsoleOptions, 'status' | 'copies' | 'narrow' | 'isList'> = {},
): SandboxResponse | Promise<SandboxResponse> =>
  isOfThisMachine(visit)
    ? withFrame(consolePage(title, body, { ...options, isShop: true, ...(isList && { isList }) }), visit)
    : htmlPage(title, body, {
        ...options,
        links: siteLinks,
        current: { path: shopPath, isPage: isList === true },
      });

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
