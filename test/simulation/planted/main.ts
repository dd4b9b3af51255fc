/**
 * Plants faults one at a time, and simulates histories until one finds it, for a minute each.
 * `npx tsx test/simulation/planted/main.ts [part of a name…]`; `--list` lists them all.
 */
import type { SimulatedFault } from './fault.ts';
import { simulatedFaults } from './faults.ts';
import { findPlanted } from './find.ts';

/** How long histories are simulated for one fault, ms. */
const maxMs = 60_000;

function* seedsFor(ms: number): Generator<number> {
  const endsAt = performance.now() + ms;
  for (let seed = 1; performance.now() < endsAt; seed += 1) yield seed;
}

/** @returns whether the fault was found. */
async function isFound(fault: SimulatedFault): Promise<boolean> {
  const startedAt = performance.now();
  const found = await findPlanted(fault, seedsFor(maxMs));
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(
    found
      ? `caught: ${fault.name} (seed ${found.seed}, ${seconds} s)\n  ${found.finding.rule} (${found.finding.hidden}): ${found.finding.what.slice(0, 300)}`
      : `missed: ${fault.name} (${seconds} s)`,
  );
  return found !== undefined;
}

const parts = process.argv.slice(2);
const chosen = simulatedFaults.filter(
  ({ name }) => parts.length === 0 || parts.some((part) => name.includes(part)),
);
if (parts.includes('--list')) {
  for (const { name, file, seed } of simulatedFaults) console.log(`${name} (${file}, seed ${seed})`);
} else if (chosen.length === 0) {
  console.error(`no fault has ${parts.join(' or ')} in its name; --list names them all`);
  process.exitCode = 2;
} else {
  let caught = 0;
  for (const fault of chosen) if (await isFound(fault)) caught += 1;
  console.log(`${caught} of ${chosen.length} caught`);
  process.exitCode = caught === chosen.length ? 0 : 1;
}
