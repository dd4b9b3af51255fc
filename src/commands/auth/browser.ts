import { spawn } from 'node:child_process';
import { platform } from 'node:os';

const openers: Partial<Record<NodeJS.Platform, readonly [string, ...string[]]>> = {
  darwin: ['open'],
  win32: ['rundll32', 'url.dll,FileProtocolHandler'],
  linux: ['xdg-open'],
};

/**
 * Opens a page in the person's browser, without a shell. @returns whether a program was there to be asked; it tells
 * nothing of what came of it.
 */
export function openBrowser(address: string): Promise<boolean> {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const opener = openers[platform()] ?? openers.linux;
  if (!opener || (url?.protocol !== 'https:' && url?.protocol !== 'http:')) return Promise.resolve(false);
  const [program, ...words] = opener;
  return new Promise((resolve) => {
    const child = spawn(program, [...words, url.href], { stdio: 'ignore', detached: true });
    child.on('error', () => resolve(false));
    child.on('spawn', () => {
      child.unref();
      resolve(true);
    });
  });
}
