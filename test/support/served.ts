import { createInterface } from 'node:readline';
import { expect, onTestFinished } from 'vitest';
import { begin } from './run.ts';
import type { Workspace } from './workspace.ts';

export interface ServedSandbox {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Its stderr so far. */
  stderr(): string;
}

/** Serves a sandbox until the test ends. @param args after `sandbox serve`. */
export async function serveAt(workspace: Workspace, ...args: readonly string[]): Promise<ServedSandbox> {
  const child = begin(workspace, 'errand', ['sandbox', 'serve', '--port', '0', '-o', 'json', ...args]);
  onTestFinished(() => void child.kill('SIGKILL'));
  let stderr = '';
  child.stderr.on('data', (text) => {
    stderr += text;
  });
  for await (const line of createInterface(child.stdout)) {
    const url: string = JSON.parse(line).base_url;
    return { url, port: Number(new URL(url).port), pid: child.pid ?? 0, stderr: () => stderr };
  }
  return expect.fail(`it ended without a line: ${stderr}`);
}
