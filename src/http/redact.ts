import { encodedForms } from './encoded-forms.ts';
import type { WireHeaders } from './transport.ts';

/** Replaces secrets in what is shown. */
export interface Redactor {
  text(text: string): string;
  headers(headers: WireHeaders): Record<string, string>;
  /** A JSON value: fields that hold secrets by their name, and secrets within every other text. */
  value(value: unknown): unknown;
}

export const redacted = '[redacted]';

/** Headers whose whole value is a secret. */
const secretHeaders = /^(?:authorization|proxy-authorization|cookie|set-cookie|x-api-key|payment-receipt)$/i;
/** Fields whose whole value is a secret, in JSON and in forms. */
const secretFields = [
  'password',
  'totp_secret',
  'api_key',
  'legacy_token',
  'client_token',
  'access_token',
  'refresh_token',
  'device_code',
  'secret',
  'credential',
];
const secretField = new RegExp(`^(?:${secretFields.join('|')})$`, 'i');
const fieldInJson = new RegExp(`("(?:${secretFields.join('|')})"\\s*:\\s*")(?:[^"\\\\]|\\\\[^])*`, 'gi');

/** Query parameters that sign a URL or open what it names. */
const secretParameters = [
  ...secretFields,
  'signature',
  'sig',
  'token',
  'key',
  'auth',
  'hmac',
  'x-amz-signature',
  'x-amz-credential',
  'x-amz-security-token',
  'x-goog-signature',
  'x-goog-credential',
];
const parameterInText = new RegExp(
  `([?&;](?:amp;)?(?:${secretParameters.join('|')})=)[^&#\\s"'<>\\\\]+`,
  'gi',
);
/** Keys of this service, whoever they belong to: `<prefix>_test_…`, `<prefix>_live_…`. */
const anyKey = /(?<![A-Za-z0-9])([A-Za-z0-9]{1,32}_(?:test|live)_)[A-Za-z0-9_-]{8,}/g;
const credentialsInUrl = /([a-z][a-z0-9+.-]{1,20}:\/\/)[^\s/?#"'<>]{1,500}@/gi;
const schemeAndCredential = /\b(Bearer|Basic|Payment)(\s+)[A-Za-z0-9._~+/=-]{16,}/gi;

/**
 * Makes a redactor for the secrets of this run, in every form in which they may turn up: as they are, URL-encoded,
 * base64 within a longer text, escaped in JSON. Secrets it was not told of are recognised by where they stand.
 */
export function createRedactor(secrets: readonly string[]): Redactor {
  const known = secrets.flatMap(encodedForms);
  const text = (given: string): string => {
    const told = known.reduce((rest, form) => rest.replace(form, redacted), given);
    return told
      .replace(fieldInJson, `$1${redacted}`)
      .replace(parameterInText, `$1${redacted}`)
      .replace(credentialsInUrl, `$1${redacted}@`)
      .replace(schemeAndCredential, `$1$2${redacted}`)
      .replace(anyKey, `$1${redacted}`);
  };
  return {
    text,
    headers: (headers) => redactHeaders(headers, text),
    value: (value) => redactValue(value, text),
  };
}

function redactHeaders(headers: WireHeaders, text: Redactor['text']): Record<string, string> {
  const shown = Object.entries(headers).flatMap(([name, value]): [string, string][] => {
    if (value === undefined) return [];
    if (secretHeaders.test(name)) return [[name, redacted]];
    return [[name, text(typeof value === 'string' ? value : value.join(', '))]];
  });
  return Object.fromEntries(shown);
}

function redactValue(value: unknown, text: Redactor['text']): unknown {
  if (typeof value === 'string') return text(value);
  if (Array.isArray(value)) return value.map((inner) => redactValue(inner, text));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      secretField.test(name) && inner !== null ? redacted : redactValue(inner, text),
    ]),
  );
}
