import { isLoopback } from './lookup.ts';
import { hasCredentials, parseUrl } from './urls.ts';

/** A page that may be opened, or why it may not, phrased to follow "the address". */
type Page = { readonly url: URL } | { readonly problem: string };

/**
 * Checks the address of a page, as given by the service. The page must be encrypted, or on this machine. Its address
 * must have no user or password, which could pass for its host. A page may be on this machine only if the service is.
 */
export function pageAt(address: string, service: URL): Page {
  const url = parseUrl(address);
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') return { problem: 'is no web page' };
  if (hasCredentials(url)) return { problem: 'has a user or a password in it' };
  if (isLoopback(url.hostname))
    return isLoopback(service.hostname) ? { url } : { problem: 'is on this machine, and the service is not' };
  return url.protocol === 'https:' ? { url } : { problem: 'is not encrypted (https)' };
}
