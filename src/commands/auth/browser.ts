import { spawn } from 'node:child_process';
import { platform } from 'node:os';
import type { Environment } from '../../config/paths.ts';
import { isLoopback } from '../../platform/net/lookup.ts';
import { hasCredentials, parseUrl } from '../../platform/net/urls.ts';
import { findProgram } from '../../platform/programs.ts';

const openers: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
  linux: ['xdg-open'],
};

/** How long an opener may take to report failure, ms. An opener still running by then has become the browser. */
const failureTimeoutMs = 1000;

/** An address of the service that may be opened, or why not, phrased to follow "the address". */
type Page = { readonly url: URL } | { readonly problem: string };

/**
 * Checks an address that the service names. A page is encrypted or on this machine, has no user or password that could
 * pass for its host, and is on this machine only if the service is.
 */
export function pageAt(address: string, service: URL): Page {
  const url = parseUrl(address);
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') return { problem: 'is no web page' };
  if (hasCredentials(url)) return { problem: 'has a user or a password in it' };
  if (isLoopback(url.hostname))
    return isLoopback(service.hostname) ? { url } : { problem: 'is on this machine, and the service is not' };
  return url.protocol === 'https:' ? { url } : { problem: 'is not encrypted (https)' };
}

/** Opens a page in the user's browser, without a shell. @returns whether it opened, as far as the opener reports. */
export function openBrowser(url: URL, environment: Environment): Promise<boolean> {
  const opener = openers[platform()] ?? openers.linux;
  if (!opener) return Promise.resolve(false);
  const [name, ...words] = opener;
  const program = findProgram(name, environment);
  if (!program) return Promise.resolve(false);
  return new Promise((resolve) => {
    const child = spawn(program.file, [...words, url.href], {
      stdio: 'ignore',
      detached: true,
      env: { ...program.environment },
    });
    const timer = setTimeout(() => resolve(true), failureTimeoutMs);
    const end = (opened: boolean): void => {
      clearTimeout(timer);
      resolve(opened);
    };
    child.on('error', () => end(false));
    child.on('exit', (code) => end(code === 0));
    child.unref();
  });
}
