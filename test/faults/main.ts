/**
 * Long-running fault tests; each exits 1 on any discrepancy:
 * `npm run faults -- --runs 100000 --seed 1` randomized runs against the served sandbox;
 * `npm run faults -- --sweep` a fault at each system call of every command (`--part 2/8` runs one share,
 * `--subjects 'bulk cancel,undo'` those commands alone);
 * `npm run faults -- --races 200` repeated races of 32 processes under a policy limit, with some of them killed;
 * `npm run faults -- --flips 1000 --seed 1` repeated single-bit flips in a journal;
 * `npm run faults -- --team` several machines sharing a database: races for the same orders and for the room under a
 * limit,
 * and randomized runs while the database crashes (`--bounded` for each change; `--runs 500` sets the number of runs).
 * `npm run faults -- --needs 1000 --seed 1` random histories of commands for the same needs: never two live orders of one
 * (`--doors reference,upload` draws from those alone, and with `--shared` the machines share a database);
 * `npm run faults -- --standing 52 --machines 50 --seed 1` real processes on machines without a common journal that run one
 * file of standing orders for so many weeks.
 */
import { parseArgs } from 'node:util';
import { runFlips } from './flips-main.ts';
import { doorsNamed } from './needs/doors.ts';
import { playHistories } from './needs/main.ts';
import { runRaces } from './policy-race.ts';
import { runRandomly } from './random-main.ts';
import { startService } from './service.ts';
import { runWeeks } from './standing/main.ts';
import { runSweep } from './sweep-main.ts';
import { boundedForm, longForm, runTeam } from './team/team-main.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string' },
    seed: { type: 'string' },
    workers: { type: 'string', default: '4' },
    sweep: { type: 'boolean', default: false },
    part: { type: 'string', default: '1/1' },
    subjects: { type: 'string' },
    flips: { type: 'string' },
    races: { type: 'string' },
    needs: { type: 'string' },
    doors: { type: 'string' },
    shared: { type: 'boolean', default: false },
    team: { type: 'boolean', default: false },
    bounded: { type: 'boolean', default: false },
    standing: { type: 'string' },
    machines: { type: 'string', default: '50' },
  },
});
const seed = values.seed === undefined ? Math.floor(Date.now() / 1000) : Number(values.seed);
const workers = Number(values.workers);

process.exitCode = (await run()) ? 0 : 1;
// Exit explicitly once the verdict is flushed: thousands of killed clients may have left open handles.
process.stdout.write('', () => process.exit());

/** @returns whether no problem was found. */
function run(): Promise<boolean> {
  const { runs, races, flips, sweep, part, subjects, team, bounded, needs, doors, shared, standing } = values;
  const form = bounded ? boundedForm : longForm;
  if (team) return runTeam(runs === undefined ? form : { ...form, runs: Number(runs) }, seed, workers);
  if (standing !== undefined)
    return runWeeks({ weeks: Number(standing), machines: Number(values.machines), seed });
  if (needs !== undefined)
    return playHistories(Number(needs), seed, workers, { on: doorsNamed(doors), isShared: shared });
  if (races !== undefined) return runRaces(Number(races), startService);
  if (sweep) return runSweep(part, workers, subjects?.split(','));
  if (flips !== undefined) return runFlips(Number(flips), seed, workers);
  return runRandomly(Number(runs ?? 1000), seed, workers);
}
