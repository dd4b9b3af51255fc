import { execFileSync, spawn } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const place = fileURLToPath(new URL('./mock', import.meta.url));
/** Timeout for loading the document and listening, ms. */
const patienceMs = 60_000;

/** Starts Prism, a public OpenAPI mock server, with the sandbox's own document; installs it on first use. */
export async function startPrism(
  folder: string,
  document: string,
): Promise<{ baseUrl: string; stop(): Promise<void> }> {
  if (!existsSync(join(place, 'node_modules')))
    execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: place, stdio: 'inherit' });
  const file = join(folder, 'openapi.json');
  writeFileSync(file, document);
  const port = await freePort();
  const args = [
    'mock',
    file,
    '--port',
    String(port),
    '--host',
    '127.0.0.1',
    '-v',
    'silent',
    '--multiprocess',
    'false',
  ];
  const child = spawn(process.execPath, [join(place, 'node_modules/.bin/prism'), ...args], {
    stdio: 'ignore',
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const until = performance.now() + patienceMs;
  // Poll the port: the ready message depends on the log level.
  while (!(await listens(port))) {
    if (child.exitCode !== null || performance.now() > until) throw new Error('Prism does not start');
    await sleep(100);
  }
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    async stop() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer();
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
