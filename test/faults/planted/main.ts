/**
 * Plants faults one at a time in a copy of this checkout and runs the tests that must catch each.
 * `npx tsx test/faults/planted/main.ts [part of a name…]`; `--list` lists them all.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PlantedFault } from './fault.ts';
import { programFaults } from './program.ts';
import { serviceFaults } from './service.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** Copies this checkout with uncommitted changes and links node_modules. */
function makeCopy(): string {
  const copy = mkdtempSync(join(tmpdir(), 'errand-planted-'));
  const listed = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const names = execFileSync('git', listed, { cwd: root, encoding: 'utf8' }).split('\0');
  const there = names.filter((name) => name !== '' && existsSync(join(root, name)));
  for (const name of [...there, 'dist']) cpSync(join(root, name), join(copy, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  return copy;
}

/**
 * Whether a file imports another, directly or transitively. A test that reaches the workspace helper runs the built
 * program.
 */
function reaches(file: string, target: string, seen = new Set<string>()): boolean {
  if (file === target) return true;
  if (seen.has(file) || !file.startsWith('test/')) return false;
  seen.add(file);
  const imports = readFileSync(join(root, file), 'utf8').matchAll(/\bfrom '(\.[^']+)'/g);
  return Array.from(imports, ([, to = '']) => join(dirname(file), to)).some((to) =>
    reaches(to, target, seen),
  );
}

type Result = 'caught' | 'missed' | 'not planted' | 'does not build' | 'tests did not run';

function tryFault(copy: string, { file, from, to, caughtBy }: PlantedFault): [Result, string] {
  const path = join(copy, file);
  const text = readFileSync(path, 'utf8');
  if (text.split(from).length !== 2) return ['not planted', `${file} does not hold the text once`];
  writeFileSync(
    path,
    text.replace(from, () => to),
  );
  try {
    if (caughtBy.some((test) => reaches(test, 'test/support/workspace.ts'))) {
      const build = spawnSync(process.execPath, ['.ci/build.js'], { cwd: copy, encoding: 'utf8' });
      if (build.status !== 0) return ['does not build', build.stderr];
    }
    return runTests(copy, caughtBy);
  } finally {
    writeFileSync(path, text);
  }
}

interface Report {
  readonly numPassedTests: number;
  readonly testResults: readonly {
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

function runTests(copy: string, files: readonly string[]): [Result, string] {
  const output = join(copy, 'report.json');
  rmSync(output, { force: true });
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', ...files, '--reporter=json'];
  const ended = spawnSync(process.execPath, [...vitest, `--outputFile=${output}`, '--maxWorkers=2'], {
    cwd: copy,
    encoding: 'utf8',
    // A fault may cause an infinite loop.
    timeout: 900_000,
  });
  let report: Report;
  try {
    report = JSON.parse(readFileSync(output, 'utf8'));
  } catch {
    return ['tests did not run', ended.stderr];
  }
  const failed = report.testResults.flatMap(({ assertionResults }) =>
    assertionResults.flatMap(({ status, fullName }) => (status === 'failed' ? [fullName] : [])),
  );
  if (failed.length > 0) return ['caught', failed.join('\n  ')];
  return [ended.status === 0 && report.numPassedTests > 0 ? 'missed' : 'tests did not run', ended.stderr];
}

const plantedFaults = [...programFaults, ...serviceFaults];
const parts = process.argv.slice(2);
const chosen = plantedFaults.filter(
  ({ name }) => parts.length === 0 || parts.some((part) => name.includes(part)),
);
if (parts.includes('--list')) {
  for (const { name, file } of plantedFaults) console.log(`${name} (${file})`);
} else if (chosen.length === 0) {
  console.error(`no fault has ${parts.join(' or ')} in its name; --list names them all`);
  process.exitCode = 2;
} else {
  const copy = makeCopy();
  try {
    const results = chosen.map((fault) => {
      const [result, detail] = tryFault(copy, fault);
      console.log(`${result}: ${fault.name}\n  ${detail}`);
      return result;
    });
    const caught = results.filter((result) => result === 'caught').length;
    console.log(`${caught} of ${results.length} caught`);
    process.exitCode = caught === results.length ? 0 : 1;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}
