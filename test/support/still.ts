import type { SandboxConfig } from '../../src/sandbox/config.ts';
import { openSandbox } from '../../src/sandbox/open.ts';

/**
 * An in-memory sandbox in this process. Its clock only moves on `pass`; errors behind a 500 are collected in `bugs`.
 */
export async function openStillSandbox(config: Partial<SandboxConfig> = {}) {
  let now = Date.parse('2026-03-01T12:00:00Z');
  const bugs: unknown[] = [];
  const opened = await openSandbox({
    file: ':memory:',
    baseUrl: 'http://127.0.0.1:4848',
    seed: 1,
    config,
    now: () => now,
    report: (error) => bugs.push(error),
  });
  const send = async (method: string, target: string, body?: unknown, authorization?: string) => {
    const response = await opened.handle({
      method,
      target,
      headers: { ...(authorization !== undefined && { authorization }) },
      body: new TextEncoder().encode(body === undefined ? '' : JSON.stringify(body)),
      remoteAddress: '',
    });
    const headers = new Headers();
    for (const [name, values] of Object.entries(response.headers))
      for (const value of [values].flat()) headers.append(name, value);
    const text = String(response.body ?? '');
    return { status: response.status, headers, text, body: text === '' ? undefined : JSON.parse(text) };
  };
  return {
    ...opened,
    bugs,
    send,
    /** @param ms of the sandbox's time. */
    pass(ms: number): void {
      now += ms;
    },
  };
}
