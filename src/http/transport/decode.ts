import { pipeline, type Readable, type Transform } from 'node:stream';
import { networkFailure } from '../network-error.ts';
import { headerText, TransportFailure, type WireHeaders } from './transport.ts';

/** What is requested in `accept-encoding`; nothing else is decoded. */
export const acceptedCodings = 'gzip, br';

/** Loaded for a response that is coded, which one of a few kilobytes is not. */
const decoders: Readonly<Record<string, () => Promise<Transform>>> = {
  gzip: async () => (await import('node:zlib')).createGunzip(),
  'x-gzip': async () => (await import('node:zlib')).createGunzip(),
  br: async () => (await import('node:zlib')).createBrotliDecompress(),
};

/**
 * The body with its content coding undone, piece by piece: memory stays flat however much comes out of it.
 * @param isEmpty a body that cannot be there (HEAD, 204) is not decoded, whatever the headers say.
 * @throws TransportFailure for a coding that was not requested; codings upon codings are how bombs are built.
 */
export async function decodedBody(body: Readable, headers: WireHeaders, isEmpty: boolean): Promise<Readable> {
  const coding = (headerText(headers, 'content-encoding') ?? '').trim().toLowerCase();
  if (isEmpty || coding === '' || coding === 'identity') return body;
  const decoder = Object.hasOwn(decoders, coding) ? decoders[coding] : undefined;
  if (!decoder) {
    body.destroy();
    throw new TransportFailure(
      'unknown',
      `the response is coded as "${coding.slice(0, 40)}", which was not requested`,
      {
        isPermanent: true,
      },
    );
  }
  // The error is the decoder's too; whoever reads it sees it there.
  return pipeline(body, await decoder(), () => {});
}

/** Reads a body's pieces. @throws TransportFailure where it breaks off or cannot be decoded. */
export async function* pieces(body: Readable): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of body) yield piece;
    // undici frees the connection a turn later; a request made before that would open another one.
    await new Promise((resolve) => setImmediate(resolve));
  } catch (error) {
    throw isCoding(error) ? brokenCoding(error) : networkFailure(error, 'unknown');
  }
}

const isCoding = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  /^(?:Z_|ERR_BROTLI|ERR__ERROR_FORMAT|ERR_PADDING)/.test(String(error.code));

/** A stream that ends too early is a broken connection; anything else stays broken. */
const brokenCoding = (cause: unknown): TransportFailure =>
  new TransportFailure('unknown', 'the compressed response is broken', {
    isPermanent: !(cause instanceof Error && 'code' in cause && cause.code === 'Z_BUF_ERROR'),
    cause,
  });
