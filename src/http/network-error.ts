import { type Sent, TransportFailure } from './transport/transport.ts';

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
