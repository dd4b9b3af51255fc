import type { Socket } from 'node:net';

/**
 * Ends a connection with a reset. One whose own end is still on its way is closed: Node would count it as reset and never
 * let go of it, and the process could not end.
 */
export function reset(socket: Socket | null): void {
  if (socket?.writableEnded && !socket.writableFinished) socket.destroy();
  else socket?.resetAndDestroy();
}
