import { type AddressInfo, connect, createServer } from 'node:net';
import { onTestFinished } from 'vitest';

/** Where an exchange breaks: after so many bytes of the request that pays, or of what comes back. */
export interface Cut {
  readonly of: 'request' | 'response';
  readonly after: number;
}

/** A connection to a service on which the first exchange of each new payment is cut, the next one at the next place. */
export interface CutLine {
  readonly url: string;
  readonly cuts: Cut[];
  /** Every payment that was seen, as its header has it, with the number of requests that carried it. */
  readonly payments: Map<string, number>;
  /** What came back to the newest payment the first time, with what was cut off. */
  answer: Buffer;
}

const payment = /^(?:payment-signature: |authorization: Payment )(\S+)/im;

export async function cutLineTo(target: string): Promise<CutLine> {
  const { port } = new URL(target);
  const line: CutLine = { url: '', cuts: [], payments: new Map(), answer: Buffer.alloc(0) };
  const server = createServer((client) => {
    const upstream = connect(Number(port), '127.0.0.1');
    let cut: Cut | undefined;
    let isFirst = false;
    /** One that ends in order, and one that is reset. */
    const end = (after: number): void => {
      if (after % 2 === 0) client.destroy();
      else client.resetAndDestroy();
      upstream.destroy();
    };
    client.on('data', (chunk: Buffer) => {
      const [, credential] = payment.exec(chunk.toString('latin1')) ?? [];
      if (credential !== undefined) {
        const sent = line.payments.get(credential) ?? 0;
        line.payments.set(credential, sent + 1);
        isFirst = sent === 0;
        if (isFirst) {
          line.answer = Buffer.alloc(0);
          cut = line.cuts.shift();
        }
      }
      if (cut?.of !== 'request') return void upstream.write(chunk);
      const { after } = cut;
      upstream.write(chunk.subarray(0, after), () => end(after));
    });
    upstream.on('data', (chunk: Buffer) => {
      const before = line.answer.length;
      if (isFirst) line.answer = Buffer.concat([line.answer, chunk]);
      if (cut?.of !== 'response') return void client.write(chunk);
      const { after } = cut;
      if (line.answer.length <= after) return void client.write(chunk);
      client.write(chunk.subarray(0, Math.max(0, after - before)), () => end(after));
    });
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => new Promise((resolve) => server.close(() => resolve(undefined))));
  return Object.assign(line, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}

/**
 * Places to cut an answer at: around the end of each line of its head, at both ends of its body, and at every 61st byte
 * between them. With `EVERY_BYTE=1`, all.
 */
export function cutsOf(answer: Buffer): Cut[] {
  const places = new Set<number>();
  const around = (at: number): void => {
    for (const after of [at - 1, at, at + 1]) if (after >= 0 && after < answer.length) places.add(after);
  };
  const head = answer.indexOf('\r\n\r\n') + 4;
  for (let at = 0; at < head; at = answer.indexOf('\r\n', at) + 2) around(at);
  for (const at of [head, answer.length - 1]) around(at);
  const step = process.env.EVERY_BYTE === '1' ? 1 : 61;
  for (let at = 0; at < answer.length; at += step) places.add(at);
  return [...places].sort((a, b) => a - b).map((after) => ({ of: 'response', after }));
}
