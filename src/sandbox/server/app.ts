import { isControl } from '../../api/control.ts';
import { DatabaseError } from '../../platform/sqlite/database-error.ts';
import { setTimeout } from '../../platform/wait/own-timers.ts';
import { fireTrigger } from '../control/trigger.ts';
import { labelResponse } from '../returns/labels.ts';
import type { Service } from '../service.ts';
import { limitsFor } from './body-limits.ts';
import { callOperation } from './call.ts';
import { finisher } from './finish.ts';
import { forReader } from './for-reader.ts';
import { refusedHost } from './hosts.ts';
import { prefersHtml } from './prefers-html.ts';
import { json, responseTo } from './refusal.ts';
import { bodyTooLarge, readTarget } from './request.ts';
import { findRoute } from './routes.ts';
import { type Handle, headerOf, type SandboxRequest, type SandboxResponse } from './wire.ts';

/**
 * The service as a function: a request in, a response out, no socket. A bug is a 500 and goes to the service's `report`.
 * @throws DatabaseError where the store's file is to blame: in this process that is the user's own to put right.
 */
export function createApp(service: Service): Handle {
  const finish = finisher();
  const respond = async (request: SandboxRequest): Promise<SandboxResponse> => {
    service.pace.came();
    try {
      // The network between a program and the service is slow, not the one to a person who watches both.
      if (service.config.latencyMs > 0 && !isSpared(request))
        await new Promise((resolve) => setTimeout(resolve, service.config.latencyMs));
      const response = await dispatch(service, request);
      service.deliver();
      return response;
    } catch (error) {
      const refusal = responseTo(error);
      if (refusal) return refusal;
      if (error instanceof DatabaseError) throw error;
      service.report(error);
      return json(500, {
        code: 'internal_error',
        message: 'The sandbox failed; this is a bug in it.',
        details: {},
      });
    }
  };
  return async (request) => finish(request, await respond(request));
}

const isSpared = (request: SandboxRequest): boolean =>
  prefersHtml(headerOf(request, 'accept')) || isControl(readTarget(request.target).pathname);

async function dispatch(service: Service, request: SandboxRequest): Promise<SandboxResponse> {
  const { pathname, search } = readTarget(request.target);
  const found = findRoute(request.method, pathname, prefersHtml(headerOf(request, 'accept')));
  const { bytes } = limitsFor(found);
  if (request.body.length > bytes) return forReader(request, bodyTooLarge(bytes));
  const elsewhere = await refusedHost(request, service.config);
  if (elsewhere) return elsewhere;
  if (service.store.unwritable && request.method !== 'GET') throw service.store.unwritable;
  if ('allowed' in found) return await unknownRoute(request, pathname, found.allowed);
  switch (found.kind) {
    case 'operation':
      return callOperation(service, found, request, search);
    case 'label':
      return labelResponse(service, found.path, search);
    case 'trigger':
      return fireTrigger(service, request);
    case 'control': {
      const { controlSandbox } = await import('../control/surface.ts');
      return controlSandbox(service, request, found.path);
    }
    case 'health':
      if (service.store.unwritable) throw service.store.unwritable;
      return json(200, { status: 'ok' });
    case 'page': {
      // Of the pages nothing is loaded before: the command's own sandbox shows none.
      const { showPage } = await import('../console/pages/pages.ts');
      return showPage(found.name, { service, request, path: found.path, search });
    }
  }
}

async function unknownRoute(
  { method, headers }: SandboxRequest,
  pathname: string,
  allowed: readonly string[],
): Promise<SandboxResponse> {
  // What can be read can be read without its body.
  const methods = allowed.flatMap((name) => (name === 'GET' ? [name, 'HEAD'] : [name])).join(', ');
  if (prefersHtml(headerOf({ headers }, 'accept'))) {
    const { unknownPage } = await import('../console/pages/unknown.ts');
    return unknownPage(method, pathname, methods);
  }
  if (allowed.length === 0) {
    return json(404, {
      code: 'not_found',
      message: `There is nothing at ${method} ${pathname}.`,
      details: {},
    });
  }
  const message = `${pathname} takes ${methods}, not ${method}.`;
  return json(405, { code: 'bad_request', message, details: {} }, { allow: methods });
}
