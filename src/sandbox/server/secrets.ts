import type { Operation } from '../../api/operation.ts';
import { operations } from '../../api/operations/index.ts';
import { claimPath } from '../config.ts';
import { readTarget } from './request.ts';

const maxTargetLength = 300;

/** Fields whose entire value is secret: passwords, keys, codes that lead to a key, signatures, means of payment. */
const secretNames =
  '[\\w-]{0,40}(?:password|passphrase|secret|token|api[_-]?key|private[_-]?key)|device_code|user_code|verification_uri_complete|payment_method|signature|cvv|cvc|pin';
const secretField = new RegExp(`^(?:${secretNames})$`, 'i');
/** Matches a secret field with its value, which may be truncated. */
const fieldInJson = new RegExp(
  `("(?:${secretNames})"\\s{0,9}:\\s{0,9})(?:"(?:[^"\\\\]|\\\\[\\s\\S])*"?|-?\\d[\\d.eE+-]{0,40})`,
  'gi',
);
const structuredSecret = new RegExp(`"(?:${secretNames})"\\s{0,9}:\\s{0,9}[[{]`, 'i');
/** Cheap pre-check: matches the end of any secret field name. */
const anySecretField =
  /(?:password|passphrase|secret|token|api[_-]?key|private[_-]?key|device_code|user_code|verification_uri_complete|payment_method|signature|cv[vc]|pin)"\s{0,9}:/i;

/**
 * Matches claim links anywhere in a text. Also matches if the base URL ends with a slash, or if the whole link appears
 * in a search.
 */
const claimAnywhere = new RegExp(`(${claimPath}/)[^/?&"\\s]+`, 'gi');
const keyAnywhere = /(?<![A-Za-z0-9])([A-Za-z0-9]{1,32}_(?:test|live)_)[A-Za-z0-9_-]+/g;
const parameterAnywhere =
  /([?&;][\w-]{0,40}(?:secret|token|key|sig|signature|auth|hmac|pass|password|pwd|credential|code)=)[^&#\s"'<>\\]+/gi;
const credentialsInUrl = /(:\/\/)[^\s/?#"'<>@]{1,500}@/g;

/** Redacts API keys of any sandbox, claim tokens, and signatures or credentials in URLs. */
export function withoutSecrets(text: string): string {
  // Fast path, because most texts contain no secrets.
  const keyless =
    text.includes('_test_') || text.includes('_live_') ? text.replace(keyAnywhere, '$1…') : text;
  const unclaimed = /claim/i.test(keyless) ? keyless.replace(claimAnywhere, '$1…') : keyless;
  const unsigned = /[?&;]/.test(unclaimed) ? unclaimed.replace(parameterAnywhere, '$1…') : unclaimed;
  return unsigned.includes('@') ? unsigned.replace(credentialsInUrl, '$1…@') : unsigned;
}

/**
 * Redacts JSON written by the service, complete or truncated. Returns null if the secrets in the JSON cannot be
 * identified.
 */
export function ownJson(json: string, isCut: boolean): string | null {
  const hasSecret = anySecretField.test(json);
  // Parse the JSON if a secret may be structured, escaped, or repeated inside other text.
  if (!isCut && (hasSecret || json.includes('\\u') || json.includes('"webhook'))) return foreignJson(json);
  if (json.includes('\\u') || json.includes('"webhook') || (hasSecret && structuredSecret.test(json)))
    return null;
  return withoutSecrets(hasSecret ? json.replace(fieldInJson, '$1"…"') : json);
}

/**
 * Minimum length, in characters, of a secret that is searched for in texts. Shorter secrets would match unrelated text
 * by chance.
 */
const minSecretLength = 6;

/**
 * Redacts JSON from any source. Returns null if the text is not valid JSON, because secrets in such a text cannot be
 * identified.
 */
export function foreignJson(json: string): string | null {
  try {
    const secrets = new Set<string>();
    const rest = JSON.stringify(withoutSecretsIn(JSON.parse(json), { secrets, inWebhooks: false }));
    return [...secrets].reduce((text, secret) => text.replaceAll(secret, '…'), rest);
  } catch {
    return null;
  }
}

/**
 * Hides what only the receiver at an address knows: its query, and parts of its path that nobody guesses. Whoever knows
 * them can send it events.
 */
export function shownReceiver(address: string): string {
  const [place = ''] = address.split(/[?#]/, 1);
  const path = place.split('/').map((part, at) => (at > 2 && isUnguessable(part) ? '…' : part));
  return path.join('/') + (place.length < address.length ? '?…' : '');
}

const isUnguessable = (part: string): boolean => /^[\w-]{16,}$/.test(part) && /\d/.test(part);

/** Whether the field holds webhook addresses. */
const isWebhook = (name: string): boolean => /^webhook/i.test(name);

interface Reading {
  /** Collects each secret in its JSON-escaped form. */
  readonly secrets: Set<string>;
  readonly inWebhooks: boolean;
}

function withoutSecretsIn(value: unknown, reading: Reading): unknown {
  if (typeof value === 'string') return withoutSecrets(reading.inWebhooks ? shownReceiver(value) : value);
  if (Array.isArray(value)) return value.map((inner) => withoutSecretsIn(inner, reading));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => {
      const shown = withoutSecrets(name);
      if (!secretField.test(name) || inner === null || typeof inner === 'boolean')
        return [
          shown,
          withoutSecretsIn(inner, { ...reading, inWebhooks: reading.inWebhooks || isWebhook(name) }),
        ];
      if (typeof inner === 'string' && inner.length >= minSecretLength)
        reading.secrets.add(JSON.stringify(inner).slice(1, -1));
      return [shown, '…'];
    }),
  );
}

/**
 * Query parameters defined by the contract, which contain no secrets. For all other parameters, only the name is shown.
 */
const harmless: ReadonlySet<string> = new Set(
  Object.values(operations).flatMap((operation: Operation) => Object.keys(operation.query ?? {})),
);

function decodedPath(pathname: string): string {
  try {
    return decodeURIComponent(pathname);
  } catch {
    // If a path cannot be decoded, show none of it.
    return '…';
  }
}

/** Decodes and redacts a request target for logging. For query parameters outside the contract, keeps only the name. */
export function shownTarget(target: string): string {
  const { pathname, search } = readTarget(target);
  const decoded = decodedPath(pathname);
  const query = [...new URLSearchParams(search)].map(([name, value]) =>
    harmless.has(name) ? `${name}=${value}` : `${name}=…`,
  );
  const whole = [decoded, ...(query.length > 0 ? [query.join('&')] : [])].join('?');
  return copyOf(withoutSecrets(whole).slice(0, maxTargetLength));
}

/** Copies a substring, so that the substring does not keep the whole source string in memory. */
export const copyOf = (text: string): string => Buffer.from(text).toString();
