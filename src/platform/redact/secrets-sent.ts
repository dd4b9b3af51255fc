import { decoded, parseUrl } from '../net/urls.ts';
import { secretField, secretHeaders, secretParameter } from './redactor.ts';

interface Sent {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
}

/** The secrets that a request contains, without encoding. They are needed because the response may echo them. Pure. */
export function secretsSent({ url, headers, body }: Sent): string[] {
  return [
    ...Object.entries(headers)
      .filter(([name]) => secretHeaders.test(name))
      .flatMap(([name, value]) => secretsOfHeader(name, value)),
    ...secretsOfUrl(url),
    ...(body === undefined ? [] : secretsOfBody(body)),
  ];
}

function secretsOfHeader(name: string, value: string): string[] {
  if (/authorization$/i.test(name)) return credentialsIn(value);
  if (!/cookie$/i.test(name)) return [value];
  return [value, ...value.split(';').map((pair) => pair.slice(pair.indexOf('=') + 1).trim())];
}

/**
 * The secrets in an authorization header. After a known scheme, this is the credential, and for `Basic …` also the
 * decoded user and password. If no scheme is known, it is the whole value.
 */
function credentialsIn(header: string): string[] {
  const [, scheme = '', credential = header] = /^([A-Za-z]{1,20}) +([^ ].*)$/s.exec(header) ?? [];
  if (!/^(?:basic|bearer|payment|token|digest)$/i.test(scheme)) return [header];
  if (scheme.toLowerCase() !== 'basic') return [credential];
  const pair = Buffer.from(credential, 'base64').toString();
  const colon = pair.indexOf(':');
  return [credential, pair.slice(0, colon), pair.slice(colon + 1)];
}

function secretsOfUrl({ password, searchParams }: URL): string[] {
  const signed = [...searchParams].filter(([name]) => secretParameter.test(name)).map(([, value]) => value);
  return password === '' ? signed : [decoded(password), ...signed];
}

/** An upload may have a million characters, so parse it only if it contains one of these names. */
const names =
  /password|passphrase|secret|token|api[_-]?key|private[_-]?key|credential|device_code|cv[vc]|webhook/i;

function secretsOfBody(body: Uint8Array): string[] {
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString();
  if (!names.test(text)) return [];
  try {
    return secretsOfValue(JSON.parse(text), '');
  } catch {
    // The text is not JSON, so it is a form or has a format that the user chose.
    return [...new URLSearchParams(text)]
      .filter(([name]) => secretField.test(name))
      .map(([, value]) => value);
  }
}

function secretsOfValue(value: unknown, name: string): string[] {
  if (typeof value === 'string') {
    if (secretField.test(name)) return [value];
    return /webhook/i.test(name) ? secretsOfAddress(value) : [];
  }
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((inner) => secretsOfValue(inner, name));
  const isWebhook = /webhook/i.test(name);
  return Object.entries(value).flatMap(([key, inner]) => secretsOfValue(inner, isWebhook ? name : key));
}

/**
 * Returns the long segments of a URL as secrets. Webhook events are unsigned, so anyone who knows the URL of the
 * receiver can send events.
 */
function secretsOfAddress(address: string): string[] {
  const url = parseUrl(address);
  if (!url) return [];
  return [...secretsOfUrl(url), ...url.pathname.split('/').filter((part) => /^[\w-]{16,}$/.test(part))];
}
