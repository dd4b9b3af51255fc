/**
 * The served sandbox under 50 connections beside a public OpenAPI mock server (Prism) on the same document and the same
 * operations, one after the other in one run. Prints a table, leaves nothing.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Load, loadFor, type Measured } from './load.ts';

const program = fileURLToPath(new URL('../bin/errand.js', import.meta.url));
const mock = fileURLToPath(new URL('./mock', import.meta.url));
const connections = 50;
const ms = 5000;

const folder = mkdtempSync(join(tmpdir(), 'errand-bench-'));
const children: ChildProcess[] = [];

function launch(args: readonly string[]) {
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ERRAND_STATE_DIR: folder, ERRAND_CONFIG_DIR: folder },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  return child;
}

/** Starts a process and waits for the first line of its output. */
function started(args: readonly string[]): Promise<string> {
  const child = launch(args);
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => {
      text += chunk;
      if (text.includes('\n')) resolve(text.split('\n')[0] ?? '');
    });
    child.once('exit', (code) => reject(new Error(`${args[0]} ended with ${code}`)));
  });
}

/** Waits until something answers there. */
async function answers(url: string): Promise<void> {
  for (let turn = 0; turn < 300; turn += 1) {
    if (
      await fetch(url).then(
        () => true,
        () => false,
      )
    )
      return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  throw new Error(`nothing answers at ${url}`);
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

try {
  const serving = [
    'sandbox',
    'serve',
    '--port',
    '0',
    '--data',
    join(folder, 'bench.db'),
    '--speed',
    '100',
    '-o',
    'json',
  ];
  const { base_url: baseUrl } = JSON.parse(await started([program, ...serving])) as {
    base_url: string;
  };
  const minted = await fetch(`${baseUrl}/sandbox/keys`, { method: 'POST' });
  const { api_key: key, example_order: order } = (await minted.json()) as {
    api_key: string;
    example_order: object;
  };
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    accept: 'application/json',
  };
  const creates = (base: string): Load => ({
    method: 'POST',
    url: `${base}/orders`,
    headers,
    // A ceiling that nothing fits under: the wallet gets its money back, and lasts.
    body: (index) => JSON.stringify({ ...order, max_price: 0, metadata: { index } }),
  });
  const reads = (base: string): Load => ({ method: 'GET', url: `${base}/orders?limit=50`, headers });

  const ours = {
    creates: await loadFor(ms, connections, creates(baseUrl)),
    reads: await loadFor(ms, connections, reads(baseUrl)),
  };

  if (!existsSync(join(mock, 'node_modules')))
    execFileSync('npm', ['ci', '--no-audit', '--no-fund'], { cwd: mock, stdio: 'inherit' });
  const document = join(folder, 'openapi.json');
  writeFileSync(document, await (await fetch(`${baseUrl}/openapi.json`)).text());
  const port = await freePort();
  const prism = join(mock, 'node_modules/@stoplight/prism-cli/dist/index.js');
  launch([prism, 'mock', document, '--port', String(port), '--host', '127.0.0.1', '-v', 'warn']);
  await answers(`http://127.0.0.1:${port}/retailers`);
  const base = `http://127.0.0.1:${port}`;
  const theirs = {
    creates: await loadFor(ms, connections, creates(base)),
    reads: await loadFor(ms, connections, reads(base)),
  };

  const line = (name: string, own: Measured, other: Measured, aim: number): string =>
    [
      name.padEnd(22),
      `${Math.round(own.perSecond)}/s, p99 ${own.p99Ms.toFixed(0)} ms, ${own.failures} failed`.padEnd(40),
      `Prism ${Math.round(other.perSecond)}/s, p99 ${other.p99Ms.toFixed(0)} ms, ${other.failures} failed`.padEnd(
        46,
      ),
      `${(own.perSecond / other.perSecond).toFixed(1)}x  aim ${aim}`,
    ].join(' ');
  console.log(line('creates, each durable', ours.creates, theirs.creates, 2));
  console.log(line('reads of 50 orders', ours.reads, theirs.reads, 4));
} finally {
  for (const child of children) child.kill('SIGTERM');
  await Promise.all(
    children.map((child) => child.exitCode ?? new Promise((resolve) => child.once('exit', resolve))),
  );
  rmSync(folder, { recursive: true, force: true });
}
