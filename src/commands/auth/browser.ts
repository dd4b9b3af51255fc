import { spawn } from 'node:child_process';
import { platform } from 'node:os';
import type { Environment } from '../../config/paths.ts';
import { findProgram } from '../../platform/programs.ts';

const openers: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
  linux: ['xdg-open'],
};

/** Whether this machine may be able to open a browser window. Only Linux and similar systems can lack a screen. */
const hasDesktop = ({ DISPLAY, WAYLAND_DISPLAY, BROWSER }: Environment): boolean =>
  openers[platform()] !== openers.linux || Boolean(DISPLAY || WAYLAND_DISPLAY || BROWSER);

/**
 * How long, in ms, to wait for an opener to report failure. An opener that is still running by then has become the
 * browser.
 */
const failureTimeoutMs = 1000;

/**
 * Opens a page in the user's browser, without a shell.
 * @returns whether the page opened, as far as the opener reports.
 */
export function openBrowser(url: URL, environment: Environment): Promise<boolean> {
  const opener = openers[platform()] ?? openers.linux;
  if (!opener || !hasDesktop(environment)) return Promise.resolve(false);
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
