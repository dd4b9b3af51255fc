import { randomUUID } from 'node:crypto';
import { readTarget } from './request.ts';
import { decoded } from './routes.ts';
import { headerOf, type SandboxRequest, type SandboxResponse } from './wire.ts';

const given = /^[\w.:-]{1,100}$/;

export type Finish = (
  request: Pick<SandboxRequest, 'target' | 'headers'>,
  response: SandboxResponse,
) => SandboxResponse;

/**
 * What every response carries: an id of its request, the caller's own where it sent one, on a 401 the scheme to
 * authenticate with, and that a browser neither keeps it nor takes it for a page. The function given back belongs to
 * one service.
 */
export function finisher(): Finish {
  const name = randomUUID().slice(0, 13);
  let count = 0;
  return (request, response) => {
    count += 1;
    const own = headerOf(request, 'x-request-id') ?? '';
    const { status, headers } = response;
    return {
      ...response,
      headers: {
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
        ...(status === 401 && { 'www-authenticate': scheme(request) }),
        ...headers,
        'x-request-id': given.test(own) ? own : `${name}-${count}`,
      },
    };
  };
}

const scheme = ({ target }: Pick<SandboxRequest, 'target'>): string =>
  decoded(readTarget(target).pathname.split('/', 2)[1] ?? '') === 'v1' ? 'Basic realm="legacy"' : 'Bearer';
