import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A proxy in front of a service that records requests and can delay responses. */
export interface Gate {
  readonly baseUrl: string;
  /** Requested targets, in order. */
  readonly targets: string[];
  /** Returns a promise that delays the response for a target; by default nothing is delayed. */
  hold: (target: string) => Promise<void> | undefined;
  /** When the first byte of a response body passed through, in ms of `performance.now()`. */
  firstByteAt(): number;
  mostInFlight(): number;
  close(): void;
}

/** Forwards requests to `target` byte for byte. */
export async function openGate(target: string): Promise<Gate> {
  const targets: string[] = [];
  let firstByteAt = Number.NaN;
  let [inFlight, mostInFlight] = [0, 0];
  const server = createServer((incoming, outgoing) => {
    targets.push(incoming.url ?? '');
    inFlight += 1;
    mostInFlight = Math.max(mostInFlight, inFlight);
    outgoing.once('close', () => {
      inFlight -= 1;
    });
    const passed = request(
      new URL(incoming.url ?? '/', target),
      { method: incoming.method ?? 'GET', headers: incoming.headers },
      async (response) => {
        await gate.hold(incoming.url ?? '');
        outgoing.writeHead(response.statusCode ?? 502, response.headers);
        response.once('readable', () => {
          if (Number.isNaN(firstByteAt)) firstByteAt = performance.now();
        });
        response.pipe(outgoing);
      },
    );
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const gate: Gate = {
    baseUrl: `http://127.0.0.1:${port}`,
    targets,
    hold: () => undefined,
    firstByteAt: () => firstByteAt,
    mostInFlight: () => mostInFlight,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
  return gate;
}
