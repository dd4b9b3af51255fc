import { connect } from 'node:net';
import { hangsAfterMs } from '../limits.ts';

/** Sends bytes as they are. @returns all that came until the other side closed. */
export function exchange(baseUrl: string, bytes: string): Promise<string> {
  const { port, hostname } = new URL(baseUrl);
  return new Promise((resolve) => {
    let received = '';
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    const cut = setTimeout(() => socket.destroy(), hangsAfterMs);
    socket.on('data', (chunk) => {
      received += chunk;
    });
    // Whether the other side resets or closes, what came before counts.
    socket.on('error', () => {});
    socket.on('close', () => {
      clearTimeout(cut);
      resolve(received);
    });
  });
}
