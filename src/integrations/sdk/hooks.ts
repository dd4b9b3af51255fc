import type { Trace } from '../../http/trace.ts';
import { headerText, type WireHeaders } from '../../http/transport/transport.ts';
import { redactor } from '../../platform/redact/redactor.ts';
import type { ClientOptions, RequestAttempt } from './client-types.ts';

type Hooks = Pick<ClientOptions, 'onRequest' | 'onResponse' | 'onRetry'>;

/**
 * Returns a function that creates the trace of a call. The trace calls the program's hooks. Undefined if there are no
 * hooks.
 */
export function hookTrace(hooks: Hooks): ((operation: string | undefined) => Trace) | undefined {
  if (!hooks.onRequest && !hooks.onResponse && !hooks.onRetry) return undefined;
  return (operation) => {
    let attempt = 1;
    let of: RequestAttempt | undefined;
    let last: { readonly status?: number; readonly message?: string } = {};
    return (event) => {
      switch (event.type) {
        case 'request': {
          const { method, url, headers } = event.request;
          of = { operation, method, url: redactor.text(url.href), attempt };
          return call(hooks.onRequest, { ...of, headers: shown(headers) });
        }
        case 'response': {
          const { status, headers, ms } = event;
          last = { status };
          const requestId = headerText(headers, 'x-request-id');
          if (of) call(hooks.onResponse, { ...of, status, headers: shown(headers), requestId, ms });
          return;
        }
        case 'failure':
          last = { message: redactor.text(event.message) };
          return;
        case 'retry':
          attempt = event.attempt;
          if (of) call(hooks.onRetry, { ...of, attempt, waitMs: event.waitMs, ...last });
      }
    };
  };
}

const shown = (headers: WireHeaders): WireHeaders => redactor.headers(headers);

/** A hook that throws must not change the outcome of a request that may move money. */
function call<T>(hook: ((value: T) => unknown) | undefined, value: T): void {
  try {
    // An async function is a hook too. Nobody waits for it.
    Promise.resolve(hook?.(value)).catch(warn);
  } catch (error) {
    warn(error);
  }
}

function warn(error: unknown): void {
  const why = error instanceof Error ? error.message : String(error);
  process.emitWarning(`a hook of createClient threw: ${why}`, 'ErrandHookWarning');
}
