import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { prefersHtml } from '../pages/prefers-html.ts';
import { Random } from '../random.ts';
import { readTarget } from '../read-request.ts';
import { json } from '../refusal.ts';
import type { SandboxResponse } from '../wire.ts';
import { reset } from './reset.ts';
import type { Fault } from './spec.ts';

/** Which fault falls on a request; each draw follows from the seed and the ones before it. */
export type Drawn = (request: IncomingMessage) => Fault | undefined;

/**
 * The faults of a served sandbox. The same seed and the same requests in the same order give the same faults. None falls
 * on a page that a person looks at: an open tab asks every second, and each draw would change those that follow.
 */
export function drawFaults(faults: readonly Fault[], seed: number): Drawn {
  const random = Random.of('faults', seed);
  return ({ method = 'GET', url = '/', headers }) => {
    if (prefersHtml(headers.accept)) return undefined;
    const { pathname } = readTarget(url);
    return faults.find(
      (fault) => fault.kind !== 'refuse' && fault.matches(method, pathname) && random.chance(fault.share),
    );
  };
}

/** Drops a share of connections as they come, before anything is read from them. */
export function refuseConnections(server: Server, faults: readonly Fault[], seed: number): void {
  const refusals = faults.filter(({ kind }) => kind === 'refuse');
  if (refusals.length === 0) return;
  const random = Random.of('connections', seed);
  server.on('connection', (socket) => {
    if (refusals.some(({ share }) => random.chance(share))) reset(socket);
  });
}

/** The answer that stands in for the service's own. */
export function faultAnswer({ status, ms }: Fault): SandboxResponse {
  const code = codes[status] ?? 'internal_error';
  const body = { code, message: 'A fault that this sandbox was told to make.', details: {} };
  const seconds = String(Math.ceil(ms / 1000));
  return json(status, body, status === 429 ? { 'retry-after': seconds } : {});
}

const codes: Readonly<Record<number, string>> = {
  429: 'rate_limit_exceeded',
  502: 'external_service_error',
  503: 'service_unavailable',
};

/** Sends half of an answer under the length of the whole, then breaks off. */
export async function sendHalf(
  response: ServerResponse,
  { status, headers, body }: SandboxResponse,
): Promise<void> {
  const chunks: Buffer[] = [];
  const whole = typeof body === 'string' || body instanceof Uint8Array ? [body] : (body ?? []);
  for await (const chunk of whole) chunks.push(Buffer.from(chunk));
  const bytes = Buffer.concat(chunks);
  response.writeHead(status, { ...headers, 'content-length': Math.max(1, bytes.length) });
  await new Promise((resolve) => response.write(bytes.subarray(0, bytes.length >> 1), resolve));
  response.destroy();
}
