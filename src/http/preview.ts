import { UsageError } from '../platform/errors.ts';
import { redacted, redactor } from '../platform/redact/redactor.ts';
import type { KeySource } from './credentials.ts';
import { embeddedScheme } from './request.ts';
import { parseJson } from './response.ts';
import type { Transport, WireRequest } from './transport/transport.ts';

/** A request as `--dry-run` shows it, with secrets redacted. */
export interface Described {
  readonly method: string;
  readonly url: string;
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** The body: JSON as a value, anything else as text; null if there is no body. */
  readonly body: unknown;
}

/** Describes a request. Redacts a key, but keeps the scheme that precedes the key. Pure. */
function describeRequest({ method, url, headers, body }: Omit<WireRequest, 'signal'>): Described {
  const shown = redactor.headers(headers);
  const scheme = schemeOf(headers.authorization);
  return {
    method,
    url: redactor.text(url.href),
    headers: scheme === undefined ? shown : { ...shown, authorization: `${scheme} ${redacted}` },
    body: body === undefined ? null : redactor.value(parseJson(body) ?? new TextDecoder().decode(body)),
  };
}

function schemeOf(authorization: string | undefined): string | undefined {
  const placeholders = { Bearer: redacted, Basic: Buffer.from(`${redacted}:`).toString('base64') };
  return Object.entries(placeholders).find(([scheme, key]) => authorization === `${scheme} ${key}`)?.[0];
}

/** Headers that curl sets itself, or that do not describe the request. */
const leftOut = ['user-agent', 'authorization'];

/**
 * Formats a request as a curl command for a POSIX shell. The key appears as `$ERRAND_API_KEY`. Quotes every value as a
 * single word, and keeps control characters off the terminal. Ends with a line break.
 * @throws UsageError for the embedded sandbox, which has no address.
 */
export function curlCommand({ method, url, headers, body }: Described): string {
  if (url.startsWith(embeddedScheme)) {
    throw new UsageError('the embedded sandbox has no address that curl could call', {
      next: [
        { command: 'errand sandbox serve', when: 'to serve it; then --base-url with the address it prints' },
      ],
    });
  }
  const words = [
    `curl -sS${method === 'GET' ? '' : ` -X ${quoted(method)}`} ${quoted(url)}`,
    ...credential(headers.authorization),
    ...Object.entries(headers)
      .filter(([name]) => !leftOut.includes(name))
      .map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
  ];
  if (body === null || body === undefined) return joined(words);
  const text = typeof body === 'string' ? body : escapedJson(body);
  if (!unprintable.test(text)) return joined([...words, `--data-raw ${quoted(text)}`]);
  return `printf '%b' ${quoted(octal(text))} | ${joined([...words, '--data-binary @-'])}`;
}

const joined = (words: readonly string[]): string => `${words.join(' \\\n  ')}\n`;

/** Within single quotes, only the single quote has a special meaning. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

function credential(authorization: string | undefined): string[] {
  if (authorization?.startsWith('Bearer ')) return ['-H "authorization: Bearer $ERRAND_API_KEY"'];
  if (authorization?.startsWith('Basic ')) return ['-u "$ERRAND_LEGACY_TOKEN:"'];
  return authorization === undefined ? [] : [`-H ${quoted(`authorization: ${authorization}`)}`];
}

/** Control characters, and characters that hide or reorder text on a terminal. */
const unprintable = /[\x00-\x1f\x7f-\x9f]|\p{Cf}|\p{Zl}|\p{Zp}|\p{Cs}/u;

/** JSON with every unprintable character escaped. */
const escapedJson = (value: unknown): string =>
  JSON.stringify(value).replace(new RegExp(unprintable, 'gu'), (found) =>
    Array.from(
      { length: found.length },
      (_, at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`,
    ).join(''),
  );

/** Text for `printf %b`: octal escapes for backslashes and bytes outside printable ASCII. */
const octal = (text: string): string =>
  Array.from(Buffer.from(text), (byte) =>
    byte >= 0x20 && byte < 0x7f && byte !== 0x5c
      ? String.fromCharCode(byte)
      : `\\0${byte.toString(8).padStart(3, '0')}`,
  ).join('');

/** Whether to show a request instead of sending it. */
type IsShown = (method: string) => boolean;

/**
 * Sends requests with `transport`. A request that is only to be shown goes to `show` instead, which throws it to the
 * printer.
 */
export const previewTransport = (
  transport: Transport,
  isShown: IsShown,
  show: (described: Described) => never,
): Transport => ({
  send: async (request) =>
    isShown(request.method) ? show(describeRequest(request)) : transport.send(request),
  close: () => transport.close(),
});

/**
 * Placeholder for the key of a request that is only shown, so that no key has to be available. If the key is optional,
 * the placeholder is used only if there is a key.
 */
export const previewKeys =
  (isShown: IsShown, stored: KeySource): KeySource =>
  async (request) => {
    if (!isShown(request.method)) return undefined;
    return request.isOptional && (await stored(request)) === undefined ? undefined : redacted;
  };
