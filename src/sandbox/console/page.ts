import { operations } from '../../api/operations/index.ts';
import { type Content, html } from '../../platform/html.ts';
import { consolePath, shopPath } from '../config.ts';
import { bringUpToDate } from '../control/due-transitions.ts';
import { otherMachine, stranger } from '../server/hosts.ts';
import { codeParameter, unknownUser } from '../server/owner.ts';
import { readQuery, readTarget } from '../server/request.ts';
import type { Service } from '../server/service.ts';
import type { SandboxRequest, SandboxResponse } from '../server/wire.ts';
import { htmlPage, type Link, type PageOptions } from './html.ts';
import type { PageName, PagePath } from './routes.ts';

/** The sections of the console, a list each, in the order of their links. */
export const sections = {
  orders: { path: `${consolePath}/orders`, text: 'Orders' },
  batches: { path: `${consolePath}/batches`, text: 'Batches' },
  returns: { path: `${consolePath}/returns`, text: 'Returns' },
  accounts: { path: `${consolePath}/accounts`, text: 'Accounts' },
  payments: { path: `${consolePath}/payments`, text: 'Payments' },
  deliveries: { path: `${consolePath}/deliveries`, text: 'Deliveries' },
  requests: { path: `${consolePath}/requests`, text: 'Requests' },
  time: { path: `${consolePath}/time`, text: 'Time' },
  faults: { path: `${consolePath}/faults`, text: 'Faults' },
  keys: { path: `${consolePath}/keys`, text: 'Keys' },
} as const satisfies Readonly<Record<string, Link>>;

export type SectionName = keyof typeof sections;

export const keysPath = sections.keys.path;

/** The wallet of a user. */
export const walletPath = (userId: string): string => `${consolePath}/wallets/${userId}`;

/** The clock, and the states that are kept. */
export const timePath = sections.time.path;
export const faultsPath = sections.faults.path;

/** The links of every page of the console. */
const consoleLinks: readonly Link[] = [
  { path: '/', text: 'Console' },
  ...Object.values(sections),
  { path: shopPath, text: 'Shop', isAside: true },
  { path: operations['openapi.get'].path, text: 'API' },
];

interface ConsoleOptions extends Omit<PageOptions, 'links' | 'current'> {
  /** Whose page it is. */
  readonly section?: SectionName;
  /** Whether it is the section's own list, and not a page below it. */
  readonly isList?: boolean;
  /** Whether it is the first page of all. */
  readonly isFront?: boolean;
}

/** A page of the console, with the links to all sections of it. @param title also its heading. */
export function consolePage(
  title: string,
  body: Content,
  { section, isList = false, isFront = false, ...options }: ConsoleOptions = {},
): SandboxResponse {
  const behind = section === undefined ? undefined : { path: sections[section].path, isPage: isList };
  const current = isFront ? { path: '/', isPage: true } : behind;
  return htmlPage(title, body, { ...options, links: consoleLinks, ...(current && { current }) });
}

/** What the console does not have, or has no more. @param what it lacks, as a sentence. */
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

/** The ones before and after it in their list; null where there is none. */
interface Siblings {
  readonly newer: string | null;
  readonly older: string | null;
}

/** Links from one of many to the next. @param what one of them is called. */
export const siblingLinks = (what: string, { newer, older }: Siblings): Content =>
  (newer !== null || older !== null) &&
  html`<nav class="siblings" aria-label="Neighbours">${
    newer !== null && html`<a href="${newer}" rel="prev">Newer ${what}</a>`
  } ${older !== null && html`<a href="${older}" rel="next">Older ${what}</a>`}</nav>`;

/** A request for any page. */
export interface AnyPageRequest {
  readonly service: Service;
  readonly request: SandboxRequest;
  readonly path: Readonly<Record<string, string>>;
  /** The query, without its mark. */
  readonly search: string;
}

/** A request for a page, with the parameters that its row of the routes has. */
interface PageRequest<N extends PageName> extends AnyPageRequest {
  readonly path: PagePath<N>;
}

/** @throws Refusal, DatabaseError. */
export type Page<N extends PageName> = (
  request: PageRequest<N>,
) => SandboxResponse | Promise<SandboxResponse>;

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
