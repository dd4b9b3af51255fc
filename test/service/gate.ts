import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Stands before a service, notes what passes, and lets an answer wait. */
export interface Gate {
  readonly baseUrl: string;
  /** Targets that were asked for, in order. */
  readonly asked: string[];
  /** What the answer for a target waits for; nothing unless it is set. */
  hold: (target: string) => Promise<void> | undefined;
  /** When the first byte of an answer's body passed, ms of `performance.now()`. */
  firstByteAt(): number;
  mostInFlight(): number;
  close(): void;
}

/** Passes requests on to `target` byte for byte. */
export async function openGate(target: string): Promise<Gate> {
  const asked: string[] = [];
  let firstByteAt = Number.NaN;
  let [inFlight, mostInFlight] = [0, 0];
  const server = createServer((incoming, outgoing) => {
    asked.push(incoming.url ?? '');
    inFlight += 1;
    mostInFlight = Math.max(mostInFlight, inFlight);
    outgoing.once('close', () => {
      inFlight -= 1;
    });
    const passed = request(
      new URL(incoming.url ?? '/', target),
      { method: incoming.method ?? 'GET', headers: incoming.headers },
      async (answer) => {
        await gate.hold(incoming.url ?? '');
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.once('readable', () => {
          if (Number.isNaN(firstByteAt)) firstByteAt = performance.now();
        });
        answer.pipe(outgoing);
      },
    );
    incoming.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const gate: Gate = {
    baseUrl: `http://127.0.0.1:${port}`,
    asked,
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
