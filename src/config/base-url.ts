import type { DatabaseAddress } from '../format/database-address.ts';
import { UsageError } from '../platform/errors.ts';
import { isLoopback } from '../platform/net/lookup.ts';
import { hasCredentials, hasQuery, httpUrl, parseUrl, plainBase } from '../platform/net/urls.ts';
import { redactor } from '../platform/redact/redactor.ts';
import { embeddedUrl } from './stored.ts';

/**
 * Normalizes a base URL, and removes a trailing slash.
 * @throws UsageError naming the source of the URL.
 */
export function checkBaseUrl(text: string, where: string, allowPlainHttp: boolean): string {
  if (text === embeddedUrl) return text;
  const url = httpUrl(text);
  if (!url) throw new UsageError(`${where} takes an http or https URL, or ${embeddedUrl}, not "${text}"`);
  if (hasCredentials(url)) {
    throw new UsageError(
      `${where} must not carry a user name or password; store the key with \`errand auth token\``,
    );
  }
  if (hasQuery(url)) throw new UsageError(`${where} must not carry a query or fragment: "${text}"`);
  if (url.protocol === 'http:' && !allowPlainHttp && !isLoopback(url.hostname)) {
    throw new UsageError(
      `${where} is plain http to ${url.hostname}: a key would cross the network in clear; use https`,
      {
        next: [
          { command: 'errand profile set NAME --allow-plain-http', when: 'only in a network you trust' },
        ],
      },
    );
  }
  return plainBase(url);
}

/** TLS modes, weakest first. Only `verify-full` verifies the server's identity. */
const sslModes = ['disable', 'prefer', 'require', 'verify-full'] as const;

/**
 * URL parameters that are accepted. All others are refused, because they could turn off settings that prevent the loss
 * of orders.
 */
const known: readonly string[] = ['sslmode'];

/**
 * Validates the address of a shared database. From then on, the address's password is redacted everywhere. Remote
 * connections use TLS unless the address says otherwise.
 * @param password is used if the address has none.
 * @throws UsageError naming the source of the address, but no part of the address.
 */
export function checkDatabaseUrl(text: string, where: string, password = ''): DatabaseAddress {
  const url = parsed(text.trim(), where);
  const refused = (what: string, hint?: string): UsageError =>
    new UsageError(`${where} ${what}`, hint === undefined ? {} : { hint });
  if (url.hash !== '') throw refused('holds a #', escapeHint);
  if (url.hostname === '') throw refused('names no host', formHint);
  if (/[[\]%,]/.test(url.hostname))
    throw refused('takes one host, by its name or its IPv4 address', formHint);
  const name = url.pathname.slice(1);
  if (name === '') throw refused('names no database', formHint);
  if (!/^[\w$.-]+$/.test(name))
    throw refused('names a database that has other characters than letters, digits and _ $ . -', formHint);
  const [user, own] = [url.username, url.password].map((part) => decoded(part, where));
  if (!user) throw refused('names no user', formHint);
  const secret = own || password;
  if (hasControls(user) || hasControls(secret)) throw refused('holds a control character');
  checkParameters(url, where);
  if (![user, name, url.hostname, ''].includes(secret) && !isWord(secret)) redactor.remember([secret]);
  url.protocol = 'postgres:';
  url.username = encodeURIComponent(user);
  url.password = encodeURIComponent(secret);
  const guarded = url.searchParams.get('sslmode') ?? (isLoopback(url.hostname) ? 'disable' : 'require');
  url.searchParams.set('sslmode', guarded);
  return { url: url.href, shown: `${url.hostname}:${url.port || defaultPort}/${name}` };
}

/**
 * Returns the part of a stored address that may be displayed. The address may be invalid, because the file may have
 * been edited by hand.
 */
export function shownDatabase(text: string): string {
  try {
    return checkDatabaseUrl(text, 'the database').shown;
  } catch {
    return 'wrong';
  }
}

const defaultPort = 5432;
const form = 'postgres://<user>:<password>@<host>:<port>/<database>';
const formHint = `It takes ${form}.`;
const escapeHint = 'Write % @ : / ? # in a user or password as %25 %40 %3A %2F %3F %23.';

/**
 * Whether a password is a common word or a short number. Such a password is not redacted, because that would garble
 * messages and the commands in them. The password of an address is never displayed anyway.
 */
const isWord = (secret: string): boolean => /^(?:\p{L}{1,12}|\d{1,8})$/u.test(secret);

/** Never quote an invalid address, because any part of the address may be the password. */
function parsed(text: string, where: string): URL {
  if (endsEarly(text))
    throw new UsageError(`${where} has a / ? or # in its user or password that is not escaped`, {
      hint: escapeHint,
    });
  const url = parseUrl(text);
  if (url && /^postgres(?:ql)?:$/.test(url.protocol) && text.includes('://')) return url;
  const what = text === '' ? 'is empty' : 'is not the address of a PostgreSQL database';
  throw new UsageError(`${where} ${what}: it takes ${form}`, {
    hint: escapeHint,
  });
}

/**
 * Whether the user or password contains an unescaped / ? or #. A URL parser treats such a character as the end of the
 * host, although the @ comes only later.
 */
function endsEarly(text: string): boolean {
  const [, rest = ''] = /^postgres(?:ql)?:\/\/(.*)$/su.exec(text) ?? [];
  const end = rest.search(/[/?#]/);
  return end >= 0 && rest.includes('@', end);
}

function checkParameters({ searchParams }: URL, where: string): void {
  const names = [...searchParams.keys()];
  const other = names.find((name) => !known.includes(name));
  if (other !== undefined)
    throw new UsageError(`${where} has a parameter that errand does not take; it takes ${known.join(', ')}`, {
      hint: "A certificate authority of one's own is named in NODE_EXTRA_CA_CERTS, the file of its certificate.",
    });
  const mode = searchParams.get('sslmode');
  if (names.length > 1 || (mode !== null && !sslModes.some((one) => one === mode)))
    throw new UsageError(`sslmode in ${where} takes one of ${sslModes.join(', ')}`);
}

function decoded(part: string, where: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new UsageError(`${where} has a % in its user or password that begins no escape`, {
      hint: escapeHint,
    });
  }
}

const hasControls = (text: string): boolean => /\p{Cc}/u.test(text);
