import type { Operation } from '../../api/operation.ts';
import { operations } from '../../api/operations/index.ts';
import { claimPath } from '../config.ts';
import { readTarget } from './request.ts';

const longestTarget = 300;

/** Fields whose whole value is a secret: passwords, keys, codes that lead to a key, what signs, what pays. */
const secretNames =
  '[\\w-]{0,40}(?:password|passphrase|secret|token|api[_-]?key|private[_-]?key)|device_code|user_code|verification_uri_complete|payment_method|signature|cvv|cvc|pin';
const secretField = new RegExp(`^(?:${secretNames})$`, 'i');
/** With its value, as far as it is there: a body may be cut. */
const fieldInJson = new RegExp(
  `("(?:${secretNames})"\\s{0,9}:\\s{0,9})(?:"(?:[^"\\\\]|\\\\[\\s\\S])*"?|-?\\d[\\d.eE+-]{0,40})`,
  'gi',
);
const structuredSecret = new RegExp(`"(?:${secretNames})"\\s{0,9}:\\s{0,9}[[{]`, 'i');
/** How such a field ends: whether there is one at all is found fast. */
const anySecretField =
  /(?:password|passphrase|secret|token|api[_-]?key|private[_-]?key|device_code|user_code|verification_uri_complete|payment_method|signature|cv[vc]|pin)"\s{0,9}:/i;

/** Also where a base URL ends with the slash that the path begins with, or the whole link is searched for. */
const claimAnywhere = new RegExp(`(${claimPath}/)[^/?&"\\s]+`, 'gi');
const keyAnywhere = /(?<![A-Za-z0-9])([A-Za-z0-9]{1,32}_(?:test|live)_)[A-Za-z0-9_-]+/g;
const parameterAnywhere =
  /([?&;][\w-]{0,40}(?:secret|token|key|sig|signature|auth|hmac|pass|password|pwd|credential|code)=)[^&#\s"'<>\\]+/gi;
const credentialsInUrl = /(:\/\/)[^\s/?#"'<>@]{1,500}@/g;

/** A text without the keys of any sandbox, the tokens of claim links, and what signs or opens a URL. */
export function withoutSecrets(text: string): string {
  // Nearly every text has none of these, and is told by it fast.
  const keyless =
    text.includes('_test_') || text.includes('_live_') ? text.replace(keyAnywhere, '$1…') : text;
  const unclaimed = /claim/i.test(keyless) ? keyless.replace(claimAnywhere, '$1…') : keyless;
  const unsigned = /[?&;]/.test(unclaimed) ? unclaimed.replace(parameterAnywhere, '$1…') : unclaimed;
  return unsigned.includes('@') ? unsigned.replace(credentialsInUrl, '$1…@') : unsigned;
}

/** JSON that the service wrote, whole or cut, as it may be kept; null where it cannot be told what is secret in it. */
export function ownJson(json: string, isCut: boolean): string | null {
  const hasSecret = anySecretField.test(json);
  // A secret may be more than a text, stand in other signs, or once more in a sentence: then it is read.
  if (!isCut && (hasSecret || json.includes('\\u') || json.includes('"webhook'))) return foreignJson(json);
  if (json.includes('\\u') || json.includes('"webhook') || (hasSecret && structuredSecret.test(json)))
    return null;
  return withoutSecrets(hasSecret ? json.replace(fieldInJson, '$1"…"') : json);
}

/** Shorter ones stand in other words by chance, characters. */
const shortestSecret = 6;

/** JSON that anyone wrote, as it may be kept; null for what is none: of that nobody can tell what is secret in it. */
export function foreignJson(json: string): string | null {
  try {
    const secrets = new Set<string>();
    const rest = JSON.stringify(withoutSecretsIn(JSON.parse(json), { secrets, inWebhooks: false }));
    return [...secrets].reduce((text, secret) => text.replaceAll(secret, '…'), rest);
  } catch {
    return null;
  }
}

/** An address that webhooks go to is known to its receiver alone, but for its host and path. */
const isWebhook = (name: string): boolean => /^webhook/i.test(name);

interface Reading {
  /** Receives each secret, as JSON writes it. */
  readonly secrets: Set<string>;
  readonly inWebhooks: boolean;
}

function withoutSecretsIn(value: unknown, reading: Reading): unknown {
  if (typeof value === 'string')
    return withoutSecrets(reading.inWebhooks ? value.replace(/[?#].*/su, '?…') : value);
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
      if (typeof inner === 'string' && inner.length >= shortestSecret)
        reading.secrets.add(JSON.stringify(inner).slice(1, -1));
      return [shown, '…'];
    }),
  );
}

/** The queries of the contract hold no secret; of any other the name is enough. */
const harmless: ReadonlySet<string> = new Set(
  Object.values(operations).flatMap((operation: Operation) => Object.keys(operation.query ?? {})),
);

function decodedPath(pathname: string): string {
  try {
    return decodeURIComponent(pathname);
  } catch {
    // It cannot be decoded, so nothing of it is shown.
    return '…';
  }
}

/** A target as it may be kept and shown: decoded, of each query but those of the contract the name alone. */
export function shownTarget(target: string): string {
  const { pathname, search } = readTarget(target);
  const decoded = decodedPath(pathname);
  const query = [...new URLSearchParams(search)].map(([name, value]) =>
    harmless.has(name) ? `${name}=${value}` : `${name}=…`,
  );
  const whole = [decoded, ...(query.length > 0 ? [query.join('&')] : [])].join('?');
  return copyOf(withoutSecrets(whole).slice(0, longestTarget));
}

/** A part that is kept would keep the whole, if it were no copy. */
export const copyOf = (text: string): string => Buffer.from(text).toString();
