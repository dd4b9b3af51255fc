import { connect } from 'node:net';

/** Sends bytes as they are and gives back all that came until the other side closed, or `cutMs` had passed. */
export function exchange(baseUrl: string, bytes: string, cutMs = 20_000): Promise<string> {
  const { port, hostname } = new URL(baseUrl);
  return new Promise((resolve) => {
    let received = '';
    const socket = connect(Number(port), hostname, () => socket.write(bytes));
    const cut = setTimeout(() => socket.destroy(), cutMs);
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
