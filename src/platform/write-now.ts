import { fstatSync, writeSync } from 'node:fs';

/**
 * Writes to stdout without a stream, which takes Node longer to make than all else that a short answer needs.
 * @returns how many bytes it took at once: 0 where it is a terminal or another device, or its reader has gone.
 */
export function writeNow(bytes: Uint8Array): number {
  let written = 0;
  try {
    if (fstatSync(1).isCharacterDevice()) return 0;
    while (written < bytes.length) written += writeSync(1, bytes, written);
  } catch {
    // It is full just now, or broken: a stream waits, and knows what to say.
  }
  return written;
}
