import type { IncomingMessage } from 'node:http';
import { json } from './refusal.ts';
import { bodyTooLarge } from './request.ts';
import type { SandboxResponse } from './wire.ts';

/** What all bodies together may hold, from their first byte until they were worked on, bytes. */
const mostHeld = 64 * 1024 * 1024;
/** What any body may hold whatever the others do: small requests are never turned away, bytes. */
const alwaysFree = 64 * 1024;

const noBody = new Uint8Array();

type Upload = { readonly body: Uint8Array; release(): void } | { readonly refusal: SandboxResponse };

/** Reads the bodies of requests, bounded one by one and all together. */
export class Uploads {
  readonly #mostHeld: number;
  #held = 0;

  constructor(most = mostHeld) {
    this.#mostHeld = most;
  }

  /**
   * The whole body. `release` is to be called once it was worked on. Of one that is refused nothing is kept, while a
   * caller that sends it to its end gets the refusal; one that goes on for too long is broken off.
   */
  read(request: IncomingMessage, limit: number): Promise<Upload> | Upload {
    if (!hasBody(request)) return { body: noBody, release: () => {} };
    let chunks: Buffer[] = [];
    let size = 0;
    let taken = 0;
    let refusal: SandboxResponse | undefined;
    const release = (): void => {
      this.#held -= taken;
      taken = 0;
    };
    return new Promise((resolve, reject) => {
      const end = (): void => {
        const [only = noBody, ...others] = chunks;
        resolve(refusal ? { refusal } : { body: others.length > 0 ? Buffer.concat(chunks) : only, release });
      };
      request.on('data', (chunk: Buffer) => {
        size += chunk.length;
        refusal ??= this.#refusalOf(size, taken, limit);
        if (refusal) {
          chunks = [];
          release();
          if (size > limit * 4) {
            request.pause();
            end();
          }
          return;
        }
        const more = Math.max(0, size - alwaysFree) - taken;
        taken += more;
        this.#held += more;
        chunks.push(chunk);
      });
      request.once('end', end);
      request.once('error', reject);
      request.once('close', () => {
        if (request.readableEnded) return;
        release();
        reject(new Error('the caller hung up'));
      });
    });
  }

  #refusalOf(size: number, taken: number, limit: number): SandboxResponse | undefined {
    if (size > limit) return bodyTooLarge(limit);
    const more = Math.max(0, size - alwaysFree) - taken;
    return this.#held + more > this.#mostHeld ? tooMuchAtOnce() : undefined;
  }
}

const tooMuchAtOnce = (): SandboxResponse =>
  json(
    503,
    { code: 'service_unavailable', message: 'Too many large bodies are being read at once.', details: {} },
    { 'retry-after': '1' },
  );

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
