import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { program } from './program.ts';
import { median, type Row, timeBeside } from './table.ts';

const rounds = 25;

const hello = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
};

/** Time until a client gets the first response from `errand mcp`, interleaved with bare Node. */
export async function measure(folder: string): Promise<Row[]> {
  const env = { ERRAND_CONFIG_DIR: join(folder, 'config'), ERRAND_STATE_DIR: join(folder, 'state') };
  const own: number[] = [];
  const bare: number[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const times = [await firstAnswer(env), await untilEnd()] as const;
    // Skip the warm-up round, which reads the program from disk.
    if (round === 0) continue;
    own.push(times[0]);
    bare.push(times[1]);
  }
  return [timeBeside('errand mcp: first answer', median(own), { name: 'node -e 0', ms: median(bare) }, 6)];
}

async function firstAnswer(env: Readonly<Record<string, string>>): Promise<number> {
  const began = performance.now();
  const child = spawn(process.execPath, [program, 'mcp'], {
    env: { ...process.env, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.write(`${JSON.stringify(hello)}\n`);
  await once(child.stdout, 'data');
  const ms = performance.now() - began;
  child.stdin.end();
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`errand mcp ended with ${code}`);
  return ms;
}

async function untilEnd(): Promise<number> {
  const began = performance.now();
  await once(spawn(process.execPath, ['-e', '0']), 'exit');
  return performance.now() - began;
}
