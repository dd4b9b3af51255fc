import { UsageError } from '../platform/errors.ts';
import { isLoopback } from '../platform/network/loopback.ts';
import { hasCredentials, hasQuery, httpUrl, plainBase } from '../platform/network/plain-base.ts';
import { embeddedUrl } from './stored.ts';

/** A base URL in its one form, without a trailing slash. @throws UsageError naming where it came from. */
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
