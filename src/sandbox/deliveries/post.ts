import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { webhookEventHeader } from '../../contract/events.ts';
import { checkedLookup, refusedAddress } from './address.ts';

export interface Posting {
  readonly url: string;
  readonly event: string;
  readonly body: string;
  readonly allowExternal: boolean;
  readonly signal: AbortSignal;
}

/** How one attempt ended; an error names its kind, never the address, which may hold a secret. */
export type Posted = { readonly status: number } | { readonly error: string };

/** How long a receiver may take, ms. */
const mostMs = 10_000;

/** Sends an event once. Redirects are answers like any other, and are not followed. */
export function post({ url, event, body, allowExternal, signal }: Posting): Promise<Posted> {
  const target = new URL(url);
  const refused = refusedAddress(target, allowExternal);
  if (refused !== undefined) return Promise.resolve({ error: refused });
  const send = target.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve) => {
    const request = send(
      target,
      {
        method: 'POST',
        agent: false,
        lookup: checkedLookup(target, allowExternal),
        signal: AbortSignal.any([signal, AbortSignal.timeout(mostMs)]),
        headers: {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          [webhookEventHeader]: event,
        },
      },
      (response) => {
        resolve({ status: response.statusCode ?? 0 });
        // What a receiver says beside its status is nobody's business.
        response.destroy();
      },
    );
    request.on('error', (error: NodeJS.ErrnoException) => resolve({ error: error.code ?? error.name }));
    request.end(body);
  });
}
