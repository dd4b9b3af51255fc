import type { IncomingHttpHeaders } from 'node:http';
import type { Method } from '../../api/operation.ts';
import { isLoopback } from '../../platform/network/loopback.ts';
import { prefersHtml } from './prefers-html.ts';
import { readTarget } from './request.ts';
import { findRoute } from './routes.ts';

/**
 * Web pages under development are clients too: those that this machine serves may call the API, and read all of its
 * responses. The console and what controls the sandbox are for no page but their own. (Fetch standard, CORS protocol.)
 */

interface Request {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: IncomingHttpHeaders;
}

/** What lets the page that sent a request read the response; nothing for a page of another machine. */
export function corsHeaders({ method = 'GET', url = '/', headers }: Request): Record<string, string> {
  const { origin } = headers;
  if (origin === undefined || !isApi(method, url, headers)) return {};
  const varies = { vary: 'origin' };
  return isLocalPage(origin)
    ? { ...varies, 'access-control-allow-origin': origin, 'access-control-expose-headers': '*' }
    : varies;
}

/** The response to a browser that asks whether a page may send a request; undefined where it does not ask, or may not. */
export function preflight(request: Request): Record<string, string> | undefined {
  const { method, url, headers } = request;
  const asked = headers['access-control-request-method'];
  if (method !== 'OPTIONS' || asked === undefined) return undefined;
  const allowed = corsHeaders({ method: asked, url, headers: { origin: headers.origin } });
  if (allowed['access-control-allow-origin'] === undefined) return undefined;
  const names = headers['access-control-request-headers'] ?? '';
  return {
    ...allowed,
    'access-control-allow-methods': asked,
    ...(/^[\w-]+(?: ?, ?[\w-]+){0,50}$/.test(names) && { 'access-control-allow-headers': names }),
    'access-control-max-age': '600',
  };
}

/** Whether a page of this machine has an origin, whatever its port. */
function isLocalPage(origin: string): boolean {
  if (!/^https?:\/\/[^\s/\\?#@]{1,300}$/.test(origin) || !URL.canParse(origin)) return false;
  return isLoopback(new URL(origin).hostname);
}

/** Whether a request leads to the API; one that only spells it wrong shall learn so. */
function isApi(method: string, url: string, { accept }: IncomingHttpHeaders): boolean {
  const { pathname } = readTarget(url);
  const found = findRoute(method === 'HEAD' ? 'GET' : method, pathname, prefersHtml(accept));
  if ('kind' in found) return isOpen(found.kind);
  const kinds = found.allowed.map((other: Method) => findRoute(other, pathname));
  return kinds.every((other) => 'kind' in other && isOpen(other.kind));
}

const isOpen = (kind: string): boolean => kind === 'operation' || kind === 'label' || kind === 'health';
