import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, vi } from 'vitest';
import { hangsAfterMs } from '../../support/limits.ts';
import type { ServiceResponse, TestService } from '../../support/service.ts';
import { read } from './scenes.ts';

/** A received webhook. */
export interface Hook {
  readonly event: string;
  readonly target: string;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly body: ServiceResponse['body'];
}

export interface Receiver {
  readonly url: string;
  readonly hooks: readonly Hook[];
  /** Statuses of the next responses; 200 afterwards. */
  readonly responses: number[];
  /** Advances time until the condition holds. */
  readonly until: (enough: () => boolean) => Promise<void>;
}

/** Receives webhooks while `work` goes on. */
export async function withReceiver(
  it: TestService,
  work: (receiver: Receiver) => Promise<void>,
): Promise<void> {
  const hooks: Hook[] = [];
  const responses: number[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = JSON.parse(Buffer.concat(chunks).toString());
    const { headers, url: target = '' } = request;
    hooks.push({ event: String(headers['x-webhook-event']), target, headers, body });
    response.writeHead(responses.shift() ?? 200).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  const until = async (enough: () => boolean) => {
    for (let turn = 0; turn < 400 && !enough(); turn += 1) {
      it.pass(100);
      await read(it, '/wallet/me');
    }
    // Everything is due by now, but a busy machine may still be sending.
    const came = () => `only ${hooks.map(({ event }) => event).join(', ')} came`;
    await vi.waitFor(() => expect(enough(), came()).toBe(true), hangsAfterMs);
  };
  try {
    await work({ url, hooks, responses, until });
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}
