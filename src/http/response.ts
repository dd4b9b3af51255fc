import { ErrandError } from '../platform/errors.ts';
import { type Sent, TransportFailure } from './transport/transport.ts';

/** Maximum size of a JSON response in bytes, after decompression. */
export const maxJsonBytes = 64 * 1024 * 1024;
/** Maximum number of bytes to read from the body of an error response. */
const maxErrorBytes = 256 * 1024;
/** Maximum nesting of objects and arrays. */
export const maxJsonDepth = 200;

/** Reads a whole body. @throws TransportFailure if the body is longer than `limit` bytes or breaks off. */
export async function readWhole(body: AsyncIterable<Uint8Array>, limit: number): Promise<Uint8Array> {
  const read: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of body) {
    length += chunk.byteLength;
    if (length > limit) {
      throw new TransportFailure('unknown', `the response is larger than ${limit / 1024 / 1024} MB`, {
        isPermanent: true,
      });
    }
    read.push(chunk);
  }
  return Buffer.concat(read, length);
}

/** Reads the start of an error body, even if the rest never arrives. */
export async function readStart(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const read: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of body) {
      read.push(chunk);
      length += chunk.byteLength;
      if (length >= maxErrorBytes) break;
    }
  } catch (error) {
    // The status is known already and is enough. The body only explains it.
    if (!(error instanceof TransportFailure)) throw error;
  }
  return Buffer.concat(read, length).subarray(0, maxErrorBytes);
}

/**
 * Parses JSON whose nesting is limited, so that traversing the result cannot overflow the stack.
 * @returns undefined if the bytes are not JSON or nest too deeply. JSON itself cannot express undefined.
 */
export function parseJson(bytes: Uint8Array): unknown {
  if (isTooDeep(bytes)) return undefined;
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    // The bytes are not JSON. The caller reports which response they came from.
    return undefined;
  }
}

/** Scans every response byte by byte. Therefore uses only code that V8 optimizes well. */
function isTooDeep(bytes: Uint8Array): boolean {
  const end = bytes.length;
  let depth = 0;
  for (let at = 0; at < end; at += 1) {
    const byte = bytes[at] ?? 0;
    // A quote begins a string. Braces differ from brackets in a single bit, so one comparison finds both.
    if (byte === 0x22) at = endOfText(bytes, at + 1);
    else if ((byte | 0x20) === 0x7b) {
      depth += 1;
      if (depth > maxJsonDepth) return true;
    } else if ((byte | 0x20) === 0x7d) depth -= 1;
  }
  return false;
}

/** Position of the quote that ends a string. Skips escaped characters. */
function endOfText(bytes: Uint8Array, start: number): number {
  const end = bytes.length;
  let at = start;
  while (at < end && bytes[at] !== 0x22) at += bytes[at] === 0x5c ? 2 : 1;
  return at;
}

/** Hints for the caller, which is a person or a program, if the service does not respond as expected. */
export interface Advice {
  /** Hint if the response did not come from the service. */
  readonly baseUrl: string;
  /** Hint if the service is unreachable. */
  readonly network: string;
  /** Hint if the service takes too long. */
  readonly timeout: string;
  /** Hint if the service may have placed an order whose idempotency key is known. */
  readonly inDoubt: string;
}

/** Hint, for every kind of caller, if the service may have executed a request without an idempotency key. */
export const checkFirst = 'Check whether it took effect before you send it again.';

export const adviceToPeople: Advice = {
  baseUrl: 'Is the base URL right? `errand auth status` shows which one is used.',
  network: 'Check the network and the base URL; `errand auth status` shows which one is used.',
  timeout: 'A longer --timeout waits longer.',
  inDoubt: checkFirst,
};

export const adviceToPrograms: Advice = {
  baseUrl: 'Is the base URL right?',
  network: 'Check the network and the base URL.',
  timeout: 'A longer timeoutMs waits longer.',
  inDoubt:
    'Send the same body with the same idempotency_key again: it is one order, however often it is sent.',
};

/** Explains error codes to people: codes of the system, of TLS, of Node's HTTP and of undici. */
const meanings: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the host name could not be looked up',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  EADDRNOTAVAIL: 'the network cannot be reached',
  ETIMEDOUT: 'connecting took too long',
  UND_ERR_CONNECT_TIMEOUT: 'connecting took too long',
  UND_ERR_HEADERS_TIMEOUT: 'no response came in time',
  UND_ERR_BODY_TIMEOUT: 'the response stopped half-way',
  UND_ERR_HEADERS_OVERFLOW: 'the headers of the response are too large',
  HPE_HEADER_OVERFLOW: 'the headers of the response are too large',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'the response broke off before its end',
  UND_ERR_SOCKET: 'the connection was closed before the response was whole',
  ECONNRESET: 'the connection was reset',
  EPIPE: 'the connection was reset',
  EPROTO: 'the TLS handshake failed; does this port speak https?',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate chain holds a self-signed certificate',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate cannot be verified',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate cannot be verified',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host',
};

const certificateCodes = /^(?:CERT_|ERR_TLS_CERT|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|HOSTNAME_MISMATCH)/;
const alwaysPermanent =
  /^(?:EPROTO|UND_ERR_HEADERS_OVERFLOW|HPE_HEADER_OVERFLOW|UND_ERR_INVALID_ARG|ERR_SSL_)/;

/** Converts a network error. Records whether the service may have received the request. */
export function networkFailure(error: unknown, sent: Sent): TransportFailure {
  if (error instanceof TransportFailure) return error;
  const code = codeOf(error);
  const isPermanent = certificateCodes.test(code) || alwaysPermanent.test(code);
  return new TransportFailure(sent, inWords(code, error), { isPermanent, cause: error });
}

function inWords(code: string, error: unknown): string {
  const known = meanings[code];
  if (known !== undefined) return known;
  if (code.startsWith('HPE_') || (error instanceof Error && error.name === 'HTTPParserError'))
    return 'the response is not HTTP';
  if (code.startsWith('ERR_SSL_')) return 'the TLS handshake failed; does this port speak https?';
  if (certificateCodes.test(code)) return `its certificate was refused (${code})`;
  const message = error instanceof Error ? error.message : String(error);
  return message === '' ? code || 'the connection failed' : message;
}

/** The most specific code: of an error, of its causes, or of the first of several connection attempts. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const own = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (meanings[own] !== undefined || certificateCodes.test(own)) return own;
  const inner = error instanceof AggregateError ? error.errors[0] : error.cause;
  return codeOf(inner) || own;
}

/** Result of a read; undefined if the service reports that the record does not exist. */
export async function unlessMissing<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof ErrandError && error.category === 'not_found') return undefined;
    throw error;
  }
}
