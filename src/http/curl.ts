import { UsageError } from '../platform/errors.ts';
import { embeddedScheme } from './address.ts';
import type { Described } from './describe.ts';

/** Headers that curl sets by itself, or that say nothing of the request. */
const leftOut = ['user-agent', 'authorization'];

/**
 * A described request as a curl command for a POSIX shell, the key as `$ERRAND_API_KEY`. Every value is one word to
 * the shell, whatever it holds, and no control character reaches the terminal. Ends with a line break.
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

/** In single quotes nothing is special but the quote itself. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

function credential(authorization: string | undefined): string[] {
  if (authorization?.startsWith('Bearer ')) return ['-H "authorization: Bearer $ERRAND_API_KEY"'];
  if (authorization?.startsWith('Basic ')) return ['-u "$ERRAND_LEGACY_TOKEN:"'];
  return authorization === undefined ? [] : [`-H ${quoted(`authorization: ${authorization}`)}`];
}

/** Controls, and what hides or turns text on a terminal. */
const unprintable = /[\x00-\x1f\x7f-\x9f]|\p{Cf}|\p{Zl}|\p{Zp}|\p{Cs}/u;

/** The same JSON with everything unprintable as an escape. */
const escapedJson = (value: unknown): string =>
  JSON.stringify(value).replace(new RegExp(unprintable, 'gu'), (found) =>
    Array.from(
      { length: found.length },
      (_, at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`,
    ).join(''),
  );

/** Text for `printf %b`: each byte that is not plain ASCII, and the backslash, in octal. */
const octal = (text: string): string =>
  Array.from(Buffer.from(text), (byte) =>
    byte >= 0x20 && byte < 0x7f && byte !== 0x5c
      ? String.fromCharCode(byte)
      : `\\0${byte.toString(8).padStart(3, '0')}`,
  ).join('');
