/**
 * The long form of the fault tests, each of which exits 1 on any difference:
 * `npm run faults -- --runs 100000 --seed 1` randomized runs against the served sandbox;
 * `npm run faults -- --sweep` every command hurt at each of its system calls (`--part 2/8` a part of that);
 * `npm run faults -- --races 200` 32 processes under a limit of the policy, some of them killed, again and again;
 * `npm run faults -- --flips 1000 --seed 1` one bit of a journal flipped, again and again.
 */
import { parseArgs } from 'node:util';
import { runFlips } from './flips-main.ts';
import { runRaces } from './policy-race.ts';
import { runRandomly } from './random-main.ts';
import { startService } from './service.ts';
import { runSweep } from './sweep-main.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '1000' },
    seed: { type: 'string' },
    workers: { type: 'string', default: '4' },
    sweep: { type: 'boolean', default: false },
    part: { type: 'string', default: '1/1' },
    flips: { type: 'string' },
    races: { type: 'string' },
  },
});
const seed = values.seed === undefined ? Math.floor(Date.now() / 1000) : Number(values.seed);
const workers = Number(values.workers);

const isRight =
  values.races !== undefined
    ? await runRaces(Number(values.races), startService)
    : values.sweep
      ? await runSweep(values.part, workers)
      : values.flips !== undefined
        ? await runFlips(Number(values.flips), seed, workers)
        : await runRandomly(Number(values.runs), seed, workers);
process.exitCode = isRight ? 0 : 1;
// Whatever thousands of killed clients have left behind, the verdict is told.
process.stdout.write('', () => process.exit());
