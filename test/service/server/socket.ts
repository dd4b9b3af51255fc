import { connect } from 'node:net';
import { hangsAfterMs } from '../../support/limits.ts';

/** Sends raw bytes. @returns everything received until the peer closes. */
export function exchange(baseUrl: string, bytes: string): Promise<string> {
  const { port, hostname } = new URL(baseUrl);
  return new Promise((resolve) => {
    let received = '';
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    const cut = setTimeout(() => socket.destroy(), hangsAfterMs);
    socket.on('data', (chunk) => {
      received += chunk;
    });
    // Data received before a reset or close still counts.
    socket.on('error', () => {});
    socket.on('close', () => {
      clearTimeout(cut);
      resolve(received);
    });
  });
}
