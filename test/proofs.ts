/**
 * What takes hours and must hold before a release: `npm run proofs`. Each part takes 90 minutes at most on two cores.
 * `npm run proofs -- --list` names the parts, `npm run proofs -- sweep-1 node-24` runs those alone. A run that was stopped
 * goes on where it ended: parts that passed on the same sources are not run again, unless they are named.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { installNode } from '../bench/other-node.ts';

interface Part {
  readonly name: string;
  readonly proves: string;
  readonly command: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Major version of the Node that runs it; this one if absent. */
  readonly node?: number;
}

const root = fileURLToPath(new URL('..', import.meta.url));
const tests = (...args: string[]): string[] => ['npx', '--no-install', 'vitest', 'run', ...args];
const faults = (...args: string[]): string[] => [
  'npx',
  '--no-install',
  'tsx',
  'test/faults/main.ts',
  ...args,
];
const simulated = (...args: string[]): string[] => [
  'npx',
  '--no-install',
  'tsx',
  'test/simulation/main.ts',
  ...args,
];
const sweeps = 4;

const parts: readonly Part[] = [
  {
    name: 'faults',
    proves: 'one intent, one order: 2,000 randomized runs',
    command: faults('--runs', '2000'),
  },
  {
    name: 'simulation',
    proves: 'one need, one order: 10,000 simulated histories',
    command: simulated('--histories', '10000', '--seed', '1'),
  },
  {
    name: 'traces',
    proves: 'the same seeds are the same histories on Node 20 and 24',
    command: ['npx', '--no-install', 'tsx', 'test/simulation/traces.ts'],
  },
  {
    name: 'weeks',
    proves: 'one order for each date: 50 simulated years on 50 machines',
    command: simulated('--histories', '50', '--seed', '1', '--weeks', '52', '--machines', '50'),
  },
  {
    name: 'needs',
    proves: 'one need, one order: 500 random histories, by processes',
    command: faults('--needs', '500', '--seed', '1'),
  },
  {
    name: 'standing',
    proves: 'one order for each date: 52 weeks on 50 machines, with kills, lost responses, clocks that jump',
    command: faults('--standing', '52', '--machines', '50', '--seed', '1'),
  },
  {
    name: 'team',
    proves: 'several machines, one database: 100 randomized runs',
    command: faults('--team', '--runs', '100'),
  },
  {
    name: 'campaign',
    proves: 'a campaign on an engine: 20,000 rows, 8 workers, kills, a crash of its database',
    command: ['npx', '--no-install', 'tsx', 'test/postgres/campaign/main.ts'],
  },
  ...Array.from({ length: sweeps }, (_, index) => ({
    name: `sweep-${index + 1}`,
    proves: `each command hurt at each of its system calls, part ${index + 1} of ${sweeps}`,
    command: faults('--sweep', '--part', `${index + 1}/${sweeps}`),
  })),
  {
    name: 'races',
    proves: '32 processes under one limit, 200 times',
    command: faults('--races', '200'),
  },
  {
    name: 'transcripts',
    proves: 'a process of its own prints what a shared one does',
    command: tests('test/commands/transcripts'),
    environment: { SPAWNED: '1' },
  },
  {
    name: 'terminals',
    proves:
      'each question is ended in each way; no story moves the cursor for a screen reader; no width hides a failure',
    command: tests(
      'test/terminal/interrupted.test.ts',
      'test/terminal/accessible-stories.test.ts',
      'test/unit/cli/output/failures-shown.test.ts',
    ),
    environment: { EVERY_WAY: '1' },
  },
  {
    name: 'clients',
    proves: 'each refusal and each lost response, by each client of the agents',
    command: tests('test/integrations/mcp'),
    environment: { EVERY_WAY: '1' },
  },
  {
    name: 'browser',
    proves: 'each page in each width and each scheme',
    command: tests('test/browser/every-page.test.ts'),
    environment: { EVERY_WAY: '1' },
  },
  {
    name: 'advance',
    proves: 'an advance ends where waiting would, in 100 drawn scenarios',
    command: tests('test/rooms/sandbox/control/advance.test.ts'),
    environment: { EVERY_WAY: '1' },
  },
  {
    name: 'kills',
    proves: 'a sandbox that is killed 50 times under load loses nothing that it accepted',
    command: tests('test/service/server/kill.test.ts'),
    environment: { EVERY_WAY: '1' },
  },
  {
    name: 'hostile',
    proves: 'each command bears 60 changes of each response',
    command: tests('test/hostile'),
    environment: { HOSTILE: '60' },
  },
  {
    name: 'altered',
    proves: 'whoever has the role of the database alone spends nothing, whichever field or row is changed',
    command: tests('test/postgres/altered.test.ts'),
    environment: { EVERY_WAY: '1' },
  },
  { name: 'flips', proves: 'one bit of a journal flipped, 1,000 times', command: faults('--flips', '1000') },
  {
    name: 'planted',
    proves: 'the suite catches each planted fault',
    command: ['npx', '--no-install', 'tsx', 'test/faults/planted/main.ts'],
  },
  {
    name: 'planted-simulated',
    proves: 'a simulation finds each planted fault within a minute',
    command: ['npx', '--no-install', 'tsx', 'test/simulation/planted/main.ts'],
  },
  {
    name: 'earlier',
    proves: 'the build before reads what this one writes',
    command: tests('--config', 'test/earlier/vitest.config.ts'),
  },
  {
    name: 'toolchains',
    proves: 'programs of others use the library',
    command: tests('test/integrations/doors'),
  },
  {
    name: 'lost-answers',
    proves: 'a payment is made once, at whichever byte its answer is cut, beside the reference clients',
    command: tests(
      'test/commands/agent/lost-answers.test.ts',
      'test/integrations/doors/mppx',
      'test/integrations/doors/x402',
    ),
    environment: { EVERY_BYTE: '1' },
  },
  {
    name: 'doors',
    proves:
      'a public linter and generated clients take the description; bundlers, runners of tests, Bun and Deno run the library; without its addon the package does the main job on Node 22 and 24',
    command: tests('--config', 'test/doors/vitest.config.ts'),
  },
  ...[22, 24].map((node) => ({
    name: `node-${node}`,
    proves: `every test on Node ${node}`,
    command: tests(),
    node,
  })),
];

const { values, positionals } = parseArgs({
  options: { list: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const unknown = positionals.filter((name) => !parts.some((part) => part.name === name));
if (unknown.length > 0) throw new Error(`no part is called ${unknown.join(', ')}: --list names them`);

if (values.list) for (const { name, proves } of parts) console.log(`${name.padEnd(18)} ${proves}`);
else
  process.exitCode = run(parts.filter(({ name }) => positionals.length === 0 || positionals.includes(name)));

/** Runs the parts in order. @returns the exit code: 1 once a part has failed; the rest runs all the same. */
function run(chosen: readonly Part[]): number {
  const sources = hashOfSources();
  const file = join(root, 'node_modules', '.cache', 'errand-proofs.json');
  const passed: Record<string, string> = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  let code = 0;
  for (const part of chosen) {
    if (positionals.length === 0 && passed[part.name] === sources) {
      console.log(`== ${part.name}: passed before on these sources`);
      continue;
    }
    console.log(`== ${part.name}: ${part.proves}`);
    const started = Date.now();
    const [command = '', ...args] = part.command;
    const { status } = spawnSync(command, args, {
      cwd: root,
      stdio: 'inherit',
      env: environmentOf(part),
    });
    const minutes = ((Date.now() - started) / 60_000).toFixed(1);
    console.log(`== ${part.name}: ${status === 0 ? 'passed' : 'FAILED'} after ${minutes} min`);
    if (status !== 0) {
      code = 1;
      continue;
    }
    mkdirSync(dirname(file), { recursive: true });
    passed[part.name] = sources;
    writeFileSync(file, `${JSON.stringify(passed, undefined, 2)}\n`);
  }
  return code;
}

/** None of the machine's tests may be skipped, and Node reads no further certificates: the tests speak to this machine. */
function environmentOf({ environment, node }: Part): NodeJS.ProcessEnv {
  const { NODE_EXTRA_CA_CERTS: _, ...own } = process.env;
  const path = node === undefined ? own.PATH : `${binOf(node)}${delimiter}${own.PATH}`;
  return { ...own, ERRAND_CI: '1', PATH: path, ...environment };
}

/** The folder with `node` of a major version, from the registry's package `node`. */
function binOf(major: number): string {
  const folder = join(tmpdir(), `errand-node-${major}`);
  mkdirSync(folder, { recursive: true });
  return dirname(installNode(major, folder));
}

function hashOfSources(): string {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: root,
    encoding: 'utf8',
  });
  const hash = createHash('sha256');
  for (const name of listed.split('\0').filter((one) => one !== '' && existsSync(join(root, one))))
    hash
      .update(name)
      .update('\0')
      .update(readFileSync(join(root, name)));
  return hash.digest('hex');
}
