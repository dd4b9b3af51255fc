/** `npm run faults -- --runs 100000 --seed 1`: randomized runs against the served sandbox. Exits 1 on any difference. */
import { parseArgs } from 'node:util';
import { checkOrders } from './checker.ts';
import { type RunReport, runIntent, type World } from './run.ts';
import { startService } from './service.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '1000' },
    seed: { type: 'string' },
    workers: { type: 'string', default: '4' },
  },
});
const runs = Number(values.runs);
const firstSeed = values.seed === undefined ? Math.floor(Date.now() / 1000) : Number(values.seed);
/** A wallet covers this many orders and more. */
const runsPerKey = 500;

const started = Date.now();
const service = await startService();
const keys = await Promise.all(Array.from({ length: Math.ceil(runs / runsPerKey) }, () => service.mint()));
console.log(`${runs} runs, seeds ${firstSeed} to ${firstSeed + runs - 1}`);
const reports: RunReport[] = [];
let next = 0;

async function work(): Promise<void> {
  for (let index = next++; index < runs; index = next++) {
    const world: World = {
      baseUrl: service.baseUrl,
      shopUrl: service.shopUrl,
      key: keys[Math.floor(index / runsPerKey)] ?? '',
    };
    reports.push(await runIntent(world, firstSeed + index));
    if (reports.length % 100 === 0)
      console.log(`${reports.length} runs, ${Math.round((Date.now() - started) / 1000)} s`);
  }
}

/** How often each exit code or signal ended an attempt. */
function tally(all: readonly RunReport[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { code, signal } of all.flatMap(({ attempts }) => attempts)) {
    const end = String(code ?? signal);
    counts.set(end, (counts.get(end) ?? 0) + 1);
  }
  return counts;
}

try {
  await Promise.all(Array.from({ length: Number(values.workers) }, work));
  await Promise.all(keys.map((key) => service.untilPlaced(key)));
  const verdict = await checkOrders(
    service.baseUrl,
    keys,
    reports.flatMap(({ intents }) => intents),
    await service.paidOrders(),
  );
  const lying = reports.filter(({ lies }) => lies.length > 0);
  const codes = tally(reports);
  for (const { seed, scenario, lies, attempts } of lying)
    console.log(JSON.stringify({ seed, scenario, lies, attempts }));
  console.log(
    `intents ${verdict.intents}, orders ${verdict.orders}, missing ${verdict.missing.length}, doubled ${verdict.doubled.length}`,
  );
  console.log(`ends: ${[...codes].map(([code, count]) => `${code} x ${count}`).join(', ')}`);
  const wrong = [...verdict.missing, ...verdict.doubled, ...verdict.unasked];
  if (wrong.length > 0) console.log(`wrong: ${wrong.slice(0, 20).join(', ')}`);
  process.exitCode = wrong.length + lying.length > 0 ? 1 : 0;
  console.log(`${reports.length - lying.length} passed, ${lying.length + wrong.length} failed`);
} finally {
  await service.stop();
}
// Whatever thousands of killed clients have left behind, the verdict is told.
process.stdout.write('', () => process.exit());
