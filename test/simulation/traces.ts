/** Whether the same seeds are the same histories on Node 20 and 24: `npm run proofs -- traces`. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installNode } from '../../bench/other-node.ts';

const script = fileURLToPath(new URL('./main.ts', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'errand-nodes-'));

function traceOn(major: number): string {
  const own = join(folder, String(major));
  mkdirSync(own);
  const node = installNode(major, own);
  const args = ['--import', 'tsx', script, '--seed', '1', '--histories', '100'];
  const printed = execFileSync(node, args, { encoding: 'utf8' });
  return /trace (\w+)/.exec(printed)?.[1] ?? printed;
}

try {
  const traces = [20, 24].map(traceOn);
  console.log(
    `100 histories: ${traces.map((trace, at) => `trace ${trace} on Node ${[20, 24][at]}`).join(', ')}`,
  );
  process.exitCode = new Set(traces).size === 1 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
