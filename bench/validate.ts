import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { writeOrdersCsv } from './orders-csv.ts';
import { bare, highestPeak, inRounds, middle, middleOf, pairs, program, type Run, run } from './program.ts';
import { atMost, growth, type Row, timeBeside } from './table.ts';

const rounds = 3;
const product = 'https://www.example.com/products/1';

/** Validates a long file locally, against csv-parse alone and Miller if installed. */
export async function measure(folder: string): Promise<Row[]> {
  const env = { ERRAND_CONFIG_DIR: join(folder, 'config'), ERRAND_STATE_DIR: join(folder, 'state') };
  const [small, large] = [join(folder, 'small.csv'), join(folder, 'large.csv')];
  await writeOrdersCsv(small, 100_000, product);
  await writeOrdersCsv(large, 1_000_000, product);
  const parse = (file: string) => () => run([bare('csv-parse.mjs'), file], { folder });
  const check = (file: string) => () =>
    run([program, 'bulk', 'validate', file, '--local', '-o', 'csv'], { folder, env });
  const [one] = await inRounds(rounds, check(small));
  const [ten, parsed] = await inRounds(rounds, check(large), parse(large));
  const wrong = join(folder, 'wrong.csv');
  await writeOrdersCsv(wrong, 1_000_000, product, 5000, 'abc');
  const checkWrong =
    (...more: string[]) =>
    () =>
      run([program, 'bulk', 'validate', wrong, '--local', ...more], {
        ...{ folder, env, codes: [7], discard: true, onTerminal: more.length === 0 },
      });
  const hasTerminal = spawnSync('script', ['--version']).status === 0;
  const [listed, parsedWrong, ...grouped] = await inRounds(
    rounds,
    checkWrong('-o', 'csv'),
    parse(wrong),
    ...(hasTerminal ? [checkWrong()] : []),
  );
  const miller = converted(large);
  const name = 'bulk validate --local, 1,000,000 rows';
  return [
    ...besideParse(name, ten, parsed, 1.6),
    ...(miller === undefined
      ? []
      : [timeBeside('the same', middleOf(ten).ms, { name: 'mlr --icsv --ojson cat', ms: miller })]),
    ...growth('bulk validate --local', middleOf(one), middleOf(ten)),
    ...grouped.flatMap((runs) =>
      besideParse(`${name} with an error each, told together`, runs, parsedWrong, 1.6),
    ),
    ...besideParse('the same, every error as a line of CSV', listed, parsedWrong),
  ];
}

function besideParse(name: string, runs: readonly Run[], parsed: readonly Run[], aim?: number): Row[] {
  const { own, other } = middle(pairs(runs, parsed));
  return [
    timeBeside(name, own.ms, { name: 'csv-parse alone', ms: other.ms }, aim),
    atMost('its peak memory', highestPeak(runs) / 2 ** 20, 200, 'MB'),
  ];
}

function converted(file: string): number | undefined {
  if (spawnSync('mlr', ['--version']).status !== 0) return undefined;
  const began = performance.now();
  spawnSync('mlr', ['--icsv', '--ojson', 'cat', file], { stdio: ['ignore', 'ignore', 'inherit'] });
  return performance.now() - began;
}
