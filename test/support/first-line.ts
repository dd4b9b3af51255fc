import type { ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';

/**
 * Resolves with the first line a process prints, or rejects with `ended` if it exits first. Later output is discarded.
 */
export function firstLine(
  child: ChildProcess & { readonly stdout: Readable },
  ended: string,
): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk;
      if (text.includes('\n')) resolve(text.slice(0, text.indexOf('\n')));
    });
    child.once('exit', (code) => reject(new Error(`${ended} with ${code}`)));
  });
}
