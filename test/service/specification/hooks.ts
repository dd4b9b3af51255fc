import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Answer, TestService } from '../service.ts';
import { read } from './scenes.ts';

/** A webhook as it arrived. */
export interface Hook {
  readonly event: string;
  readonly body: Answer['body'];
}

/** Receives webhooks while `work` goes on; `until` lets time pass until what has come satisfies. */
export async function withReceiver(
  it: TestService,
  work: (receiver: {
    readonly url: string;
    readonly hooks: readonly Hook[];
    readonly until: (enough: () => boolean) => Promise<void>;
  }) => Promise<void>,
): Promise<void> {
  const hooks: Hook[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = JSON.parse(Buffer.concat(chunks).toString());
    hooks.push({ event: String(request.headers['x-webhook-event']), body });
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  const until = async (enough: () => boolean) => {
    for (let turn = 0; turn < 400 && !enough(); turn += 1) {
      it.pass(100);
      await read(it, '/wallet/me');
    }
    if (!enough()) throw new Error(`only ${hooks.map(({ event }) => event).join(', ')} came`);
  };
  try {
    await work({ url, hooks, until });
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}
