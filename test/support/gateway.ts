import { peer } from './peer.ts';
import type { Shopping } from './shopping.ts';

/** A gateway in front of the service that can replace its responses. */
export interface Gateway {
  /** Holds a request back until it resolves. */
  hold?: (method: string, path: string) => Promise<void> | undefined;
  /** Returns a replacement response; undefined passes the service's own on, after `alter`. */
  inPlace?: (method: string, path: string) => { readonly status: number; readonly body: unknown } | undefined;
  alter?: (path: string, body: Record<string, unknown>) => Record<string, unknown>;
}

/** Routes the machine's requests through a gateway. */
export async function through(shop: Pick<Shopping, 'workspace' | 'service'>): Promise<Gateway> {
  const gateway: Gateway = {};
  const { url } = await peer(async (response, { method, target, headers, body }) => {
    await gateway.hold?.(method, target);
    const given = gateway.inPlace?.(method, target);
    if (given) {
      response
        .writeHead(given.status, { 'content-type': 'application/json' })
        .end(JSON.stringify(given.body));
      return;
    }
    const passed = await fetch(`${shop.service.baseUrl}${target}`, {
      method,
      headers: {
        ...(headers.authorization !== undefined && { authorization: headers.authorization }),
        ...(body !== '' && { 'content-type': 'application/json' }),
      },
      ...(body !== '' && { body }),
    });
    const text = await passed.text();
    const isAltered = gateway.alter !== undefined && method === 'GET' && passed.ok;
    response
      .writeHead(passed.status, {
        'content-type': 'application/json',
        ...Object.fromEntries(
          ['www-authenticate', 'payment-receipt'].flatMap((name) => {
            const value = passed.headers.get(name);
            return value === null ? [] : [[name, value]];
          }),
        ),
      })
      .end(isAltered ? JSON.stringify(gateway.alter?.(target, JSON.parse(text))) : text);
  });
  shop.workspace.environment.ERRAND_BASE_URL = url;
  return gateway;
}
