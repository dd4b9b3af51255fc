import { operations } from '../../contract/operations/index.ts';
import { shopPath } from '../config.ts';
import { headerOf, type SandboxRequest, type SandboxResponse } from '../http/wire.ts';
import type { Service } from '../service.ts';
import { claimPath, consolePath, devicePath } from './paths.ts';
import { prefersHtml } from './prefers-html.ts';
import type { PageName } from './table.ts';

interface Route {
  readonly path: string;
  readonly GET?: PageName;
  readonly POST?: PageName;
  /** The path is the API's too, and the page is for those who ask for one. */
  readonly shared?: true;
}

const routes: readonly Route[] = [
  { path: '', GET: 'console' },
  { path: consolePath, GET: 'console' },
  { path: `${consolePath}/orders`, GET: 'consoleOrders' },
  { path: `${consolePath}/orders/{id}`, GET: 'consoleOrder' },
  { path: `${consolePath}/orders/{id}/{event}`, POST: 'consoleEvent' },
  { path: `${consolePath}/deliveries`, GET: 'consoleDeliveries' },
  { path: `${consolePath}/deliveries/{id}/replay`, POST: 'consoleReplay' },
  { path: `${consolePath}/requests`, GET: 'consoleRequests' },
  { path: `${consolePath}/keys`, GET: 'consoleKeys' },
  { path: `${claimPath}/{token}`, GET: 'claim', POST: 'claim' },
  { path: devicePath, GET: 'device', POST: 'device' },
  { path: shopPath, GET: 'shop' },
  { path: `${shopPath}/{slug}`, GET: 'product' },
  { path: operations['order.track'].path, GET: 'tracking', shared: true },
  { path: `${operations['order.track'].path}/proof/{number}`, GET: 'proof' },
];

const headOf = (path: string): string => path.split('/', 2)[1] ?? '';

/** Where a path begins that leads to a page; most requests are told by it that theirs does not. */
const heads: ReadonlySet<string> = new Set(routes.map(({ path }) => headOf(path)));

const patterns = routes.map((route) => ({
  route,
  pattern: new RegExp(`^${route.path.replace(/\{\w+\}/g, '([^/]+)')}/?$`),
}));

/**
 * The page for people that a request asks for, or what its path takes instead; undefined where there is none. Of the
 * pages themselves nothing is loaded before: the command's own sandbox shows none.
 */
export function pageFor(
  service: Service,
  request: SandboxRequest,
  pathname: string,
  search: string,
): Promise<SandboxResponse> | { readonly allowed: readonly string[] } | undefined {
  if (!heads.has(headOf(pathname))) return undefined;
  for (const { route, pattern } of patterns) {
    const found = pattern.exec(pathname);
    if (!found) continue;
    const name = request.method === 'GET' || request.method === 'POST' ? route[request.method] : undefined;
    if (route.shared && !(name && prefersHtml(headerOf(request, 'accept')))) return undefined;
    if (name) return show(name, service, request, found.slice(1), search);
    return { allowed: (['GET', 'POST'] as const).filter((method) => route[method]) };
  }
  return undefined;
}

async function show(
  name: PageName,
  service: Service,
  request: SandboxRequest,
  parts: readonly string[],
  search: string,
): Promise<SandboxResponse> {
  const { pages } = await import('./table.ts');
  return pages[name]({ service, request, parts, search });
}
