import { ErrandError } from '../platform/errors.ts';
import { type Sent, TransportFailure } from './transport/transport.ts';

/** Bytes of a JSON response, decompressed. */
export const longestJson = 64 * 1024 * 1024;
/** Bytes of an error's body that are looked at. */
const longestError = 256 * 1024;
/** How many objects and arrays may stand within each other. */
export const deepestJson = 200;

/** A body whole. @throws TransportFailure where it is longer than `limit` bytes or breaks off. */
export async function readWhole(body: AsyncIterable<Uint8Array>, limit: number): Promise<Uint8Array> {
  const read: Uint8Array[] = [];
  let length = 0;
  for await (const piece of body) {
    length += piece.byteLength;
    if (length > limit) {
      throw new TransportFailure('unknown', `the response is larger than ${limit / 1024 / 1024} MB`, {
        isPermanent: true,
      });
    }
    read.push(piece);
  }
  return Buffer.concat(read, length);
}

/** What can be read of an error's body: its beginning, even where the rest never comes. */
export async function readStart(body: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const read: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const piece of body) {
      read.push(piece);
      length += piece.byteLength;
      if (length >= longestError) break;
    }
  } catch (error) {
    // The status has been read and tells enough; the body only explains it.
    if (!(error instanceof TransportFailure)) throw error;
  }
  return Buffer.concat(read, length).subarray(0, longestError);
}

/**
 * Parses JSON of bounded depth, so that whoever walks it cannot run out of stack.
 * @returns undefined for what is not JSON (JSON has no undefined) or too deep.
 */
export function parseJson(bytes: Uint8Array): unknown {
  if (isTooDeep(bytes)) return undefined;
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    // Not JSON: the caller says whose response it was.
    return undefined;
  }
}

/** Every response is walked through byte by byte, so this is kept to what V8 runs fast. */
function isTooDeep(bytes: Uint8Array): boolean {
  const end = bytes.length;
  let depth = 0;
  for (let at = 0; at < end; at += 1) {
    const byte = bytes[at] ?? 0;
    // A quote begins a text; braces and brackets differ in one bit.
    if (byte === 0x22) at = endOfText(bytes, at + 1);
    else if ((byte | 0x20) === 0x7b) {
      depth += 1;
      if (depth > deepestJson) return true;
    } else if ((byte | 0x20) === 0x7d) depth -= 1;
  }
  return false;
}

/** Where the quote stands that ends a text, past what a backslash escapes. */
function endOfText(bytes: Uint8Array, start: number): number {
  const end = bytes.length;
  let at = start;
  while (at < end && bytes[at] !== 0x22) at += bytes[at] === 0x5c ? 2 : 1;
  return at;
}

/** What helps where the service does not respond as it should, to whoever calls it: a person, or a program. */
export interface Advice {
  /** It responds with something else. */
  readonly baseUrl: string;
  /** It cannot be reached. */
  readonly network: string;
  /** It takes too long. */
  readonly timeout: string;
  /** It may have placed an order whose key is known. */
  readonly inDoubt: string;
}

/** It may have carried out what has no key, whoever asks. */
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

/** What an error code of the system, of TLS, of Node's HTTP or of undici means, in words for people. */
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

/** An error of the network in words, with whether the request can have been received. */
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

/** The most telling code of an error, of its causes, or of the first of several attempts to connect. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return '';
  const own = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (meanings[own] !== undefined || certificateCodes.test(own)) return own;
  const inner = error instanceof AggregateError ? error.errors[0] : error.cause;
  return codeOf(inner) || own;
}

/** What is read; undefined where the service says that there is none. */
export async function unlessMissing<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof ErrandError && error.category === 'not_found') return undefined;
    throw error;
  }
}
