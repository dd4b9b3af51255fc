import type { Server, ServerResponse } from 'node:http';
import { healthPath, isControl } from '../../../api/control.ts';
import { Random } from '../../store/random.ts';
import { prefersHtml } from '../prefers-html.ts';
import { json } from '../refusal.ts';
import { readTarget } from '../request.ts';
import { halfOf, headerOf, type SandboxRequest, type SandboxResponse } from '../wire.ts';
import { alterations, isAltering } from './alter.ts';
import { reset } from './reset.ts';
import { codesOf, type Fault } from './spec.ts';

export interface Drawn {
  /** What stands in for the response, delays it or breaks it off. */
  readonly fault: Fault | undefined;
  /** What changes the response that is sent. */
  readonly altering: readonly Fault[];
  readonly alter: (response: SandboxResponse) => SandboxResponse;
}

/** Which faults fall on a request; each draw follows from the seed and the ones before it. */
export type Draw = (request: Pick<SandboxRequest, 'method' | 'target' | 'headers'>) => Drawn;

const none: Drawn = { fault: undefined, altering: [], alter: (response) => response };

/** Marks the request that a redirect led to: another redirect would only go round in a circle. */
const redirected = 'redirected';

/**
 * On pages that a person looks at, on what controls the sandbox and on who waits until it is ready no fault falls: how
 * often they ask is chance, and each draw would change those that follow.
 */
const isSpared = (pathname: string, headers: SandboxRequest['headers']): boolean =>
  pathname === healthPath || isControl(pathname) || prefersHtml(headerOf({ headers }, 'accept'));

/** The faults of a served sandbox. The same seed and the same requests in the same order give the same faults. */
export function drawFaults(faults: readonly Fault[], seed: number | string): Draw {
  const random = Random.of('faults', seed);
  const breaking = faults.filter(({ kind }) => kind !== 'refuse' && !isAltering(kind));
  const drawAlterations = alterations(
    faults.filter(({ kind }) => isAltering(kind)),
    seed,
  );
  return ({ method, target, headers }) => {
    if (faults.length === 0) return none;
    const { pathname, search } = readTarget(target);
    if (isSpared(pathname, headers)) return none;
    const wasRedirected = new URLSearchParams(search).has(redirected);
    const fault = breaking.find(
      ({ kind, matches, share }) =>
        matches(method, pathname) && !(kind === 'redirect' && wasRedirected) && random.chance(share),
    );
    return { fault, ...drawAlterations(method, pathname) };
  };
}

/** Whether the next connection is dropped; each draw follows from the seed and the ones before it. */
export function drawRefusals(faults: readonly Fault[], seed: number | string): () => boolean {
  const refusals = faults.filter(({ kind }) => kind === 'refuse');
  const random = Random.of('connections', seed);
  return () => refusals.some(({ share }) => random.chance(share));
}

/**
 * Drops a share of connections, with the first request that asks anything of the service.
 * @param isRefused whether a connection is dropped, which is drawn once for each.
 */
export function refuseConnections(server: Server, isRefused: (connection: object) => boolean): void {
  server.prependListener('request', ({ socket, url = '/', headers }) => {
    if (!isSpared(readTarget(url).pathname, headers) && isRefused(socket)) reset(socket);
  });
}

/**
 * The response that stands in for the service's own; undefined for a fault that sends none.
 * @param target where the request went. @param response the service's own, where the work is done.
 */
export function standIn(
  fault: Fault,
  target: string,
  response?: SandboxResponse,
): SandboxResponse | undefined {
  const { kind, status, ms, variants, body: own } = fault;
  if (kind === 'status') {
    const headers = {
      ...(status === 429 && { 'retry-after': String(Math.ceil(ms / 1000)) }),
      ...(status === 401 && { 'www-authenticate': 'Bearer' }),
    };
    return json(status, own === undefined ? errorBody(status, variants[0]) : JSON.parse(own), headers);
  }
  if (kind === 'bare') return { status, headers: {}, body: null };
  if (kind === 'html') return gatewayPage(status);
  if (kind !== 'redirect') return undefined;
  return { status, headers: { location: elsewhere(target, response) }, body: null };
}

/** What the service itself would say with a status; `details` of a code are those of no order, so there are none. */
function errorBody(status: number, code: string | undefined): object {
  const message = 'A fault that is on in this sandbox.';
  if (status === 422 && code === undefined)
    return { detail: [{ loc: ['body'], msg: message, type: 'fault' }] };
  return {
    code: code ?? usualCodes[status] ?? codesOf(status)[0] ?? otherCode(status),
    message,
    details: {},
  };
}

const usualCodes: Readonly<Record<number, string>> = {
  400: 'bad_request',
  502: 'external_service_error',
  503: 'service_unavailable',
};

const otherCode = (status: number): string => (status < 500 ? 'bad_request' : 'internal_error');

function gatewayPage(status: number): SandboxResponse {
  const body = `<!DOCTYPE html>\n<html><head><title>${status}</title></head>\n<body><center><h1>${status}</h1></center><hr><center>gateway</center></body></html>\n`;
  return { status, headers: { 'content-type': 'text/html' }, body };
}

/** Where a redirect leads: to the same place, or to what was made there. */
function elsewhere(target: string, response: SandboxResponse | undefined): string {
  const { pathname, search } = readTarget(target);
  const made =
    response?.status === 201 && typeof response.body === 'string' ? JSON.parse(response.body).id : null;
  if (typeof made === 'string') return `${pathname}/${made}`;
  return `${pathname}?${[...(search === '' ? [] : [search]), `${redirected}=1`].join('&')}`;
}

/** Sends half of a response under the length of the whole, then breaks off. */
export async function sendHalf(
  response: ServerResponse,
  { status, headers, body }: SandboxResponse,
): Promise<void> {
  const { half, length } = await halfOf(body);
  response.writeHead(status, { ...headers, 'content-length': Math.max(1, length) });
  await new Promise((resolve) => response.write(half, resolve));
  response.destroy();
}
