import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { programFaults } from '../../faults/planted/program.ts';
import { serviceFaults } from '../../faults/planted/service.ts';
import { simulatedFaults } from './faults.ts';
import { findPlanted } from './find.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** `npm run proofs -- planted-simulated` plants them all; these are for each change. */
const plantedEachDay = 5;

/** Histories that are played after the recorded one, since the generator may have changed. */
const furtherSeeds = 30;

test.each([...simulatedFaults, ...programFaults, ...serviceFaults])(
  '$name: its text is there once',
  ({ file, from }) => {
    expect(readFileSync(join(root, file), 'utf8').split(from)).toHaveLength(2);
  },
);

test.each(faultsOf(new Date()))('a simulation finds that $name', async (fault) => {
  const seeds = Array.from({ length: 1 + furtherSeeds }, (_, at) => fault.seed + at);
  expect(await findPlanted(fault, seeds)).toBeDefined();
});

/** Some of the faults, others on the next day. */
function faultsOf(day: Date) {
  const dayMs = 24 * 3600 * 1000;
  const first = Math.floor(day.getTime() / dayMs) * plantedEachDay;
  return Array.from(
    { length: plantedEachDay },
    (_, at) => simulatedFaults[(first + at) % simulatedFaults.length],
  ).filter((fault) => fault !== undefined);
}
