/**
 * Where the time of a short command goes, module by module: `npx tsx bench/profile-startup.ts order get ID -o json`
 * (without words: `--help`). Runs the built program several times under V8's profiler, on Node 20 and on Node 24, and adds
 * up its samples by the source file that they fell in; what a file is charged for is its own code, not what it calls.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { otherNode } from './other-node.ts';
import { program } from './program.ts';

const rounds = 10;
const shown = 40;

interface Frame {
  readonly functionName: string;
  readonly url: string;
  readonly lineNumber: number;
  readonly columnNumber: number;
}

interface Profile {
  readonly nodes: readonly { readonly id: number; readonly callFrame: Frame }[];
  readonly samples: readonly number[];
  /** Microseconds before each sample. */
  readonly timeDeltas: readonly number[];
}

const maps = new Map<string, SourceMap | undefined>();

function mapOf(url: string): SourceMap | undefined {
  if (maps.has(url)) return maps.get(url);
  let map: SourceMap | undefined;
  try {
    map = new SourceMap(JSON.parse(readFileSync(new URL(`${url}.map`), 'utf8')));
  } catch {
    // A file that was not built from others stands for itself.
  }
  maps.set(url, map);
  return map;
}

/** The source file that a frame belongs to; what is none of ours by its name. */
function moduleOf({ functionName, url, lineNumber, columnNumber }: Frame): string {
  if (url === '') return functionName === '' ? '(native)' : functionName;
  if (!url.startsWith('file:')) return url;
  const entry = mapOf(url)?.findEntry(lineNumber, columnNumber);
  // What the build itself adds comes from no source.
  const source = (entry && 'originalSource' in entry && entry.originalSource) || url;
  return `${source.replace(/^.*?(node_modules|src)\//, '$1/')} (${basename(url)})`;
}

function addUp({ nodes, samples, timeDeltas }: Profile, times: Map<string, number>): void {
  const names = new Map(nodes.map(({ id, callFrame }) => [id, moduleOf(callFrame)]));
  for (const [index, id] of samples.entries()) {
    const name = names.get(id) ?? '';
    times.set(name, (times.get(name) ?? 0) + (timeDeltas[index] ?? 0) / 1000);
  }
}

/** Of each source file, ms in all rounds. */
function profiled(node: string, command: readonly string[]): Map<string, number> {
  const folder = mkdtempSync(join(tmpdir(), 'errand-bench-'));
  try {
    for (let round = 0; round < rounds; round += 1) {
      const flags = ['--cpu-prof', '--cpu-prof-interval', '200', '--cpu-prof-dir', folder];
      const { status, stderr } = spawnSync(node, [...flags, program, ...command], { encoding: 'utf8' });
      if (status !== 0) throw new Error(`${command.join(' ')} ended with ${status}: ${stderr}`);
    }
    const times = new Map<string, number>();
    for (const name of readdirSync(folder)) {
      const profile: Profile = JSON.parse(readFileSync(join(folder, name), 'utf8'));
      addUp(profile, times);
    }
    return times;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const words = process.argv.slice(2);
const command = words.length > 0 ? words : ['--help'];
const place = mkdtempSync(join(tmpdir(), 'errand-bench-'));
try {
  const other = otherNode(place);
  for (const node of [process.execPath, ...(other === undefined ? [] : [other])]) {
    const times = profiled(node, command);
    const version = spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim();
    const all = [...times.values()].reduce((sum, ms) => sum + ms, 0);
    console.log(
      `Node ${version}, errand ${command.join(' ')}: ${(all / rounds).toFixed(1)} ms a run, mean of ${rounds}`,
    );
    for (const [name, ms] of [...times].toSorted(([, one], [, more]) => more - one).slice(0, shown))
      console.log(`${(ms / rounds).toFixed(2).padStart(8)} ms  ${name}`);
  }
} finally {
  rmSync(place, { recursive: true, force: true });
}
