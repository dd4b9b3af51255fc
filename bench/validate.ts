import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { writeOrdersCsv } from './orders-csv.ts';
import { bare, middle, program, type Run, run } from './program.ts';
import { atMost, growth, type Row, timeBeside } from './table.ts';

const rounds = 3;
const product = 'https://www.example.com/products/1';

/** Checking a long file here, beside csv-parse alone and beside Miller where it is installed. */
export async function measure(folder: string): Promise<Row[]> {
  const env = { ERRAND_CONFIG_DIR: join(folder, 'config'), ERRAND_STATE_DIR: join(folder, 'state') };
  const [small, large] = [join(folder, 'small.csv'), join(folder, 'large.csv')];
  await writeOrdersCsv(small, 100_000, product);
  await writeOrdersCsv(large, 1_000_000, product);
  const check = (file: string): Promise<Run> =>
    middle(rounds, () => run([program, 'bulk', 'validate', file, '--local', '-o', 'csv'], { folder, env }));
  const parsed = await middle(rounds, () => run([bare('csv-parse.mjs'), large], { folder }));
  const [one, ten] = [await check(small), await check(large)];
  const wrong = join(folder, 'wrong.csv');
  await writeOrdersCsv(wrong, 1_000_000, product, 5000, 'abc');
  const checkWrong = (...more: string[]): Promise<Run> =>
    middle(rounds, () =>
      run([program, 'bulk', 'validate', wrong, '--local', ...more], {
        ...{ folder, env, codes: [7], discard: true, onTerminal: more.length === 0 },
      }),
    );
  const hasTerminal = spawnSync('script', ['--version']).status === 0;
  const grouped = hasTerminal ? await checkWrong() : undefined;
  const listed = await checkWrong('-o', 'csv');
  const parsedWrong = await middle(rounds, () => run([bare('csv-parse.mjs'), wrong], { folder }));
  const miller = converted(large);
  const name = 'bulk validate --local, 1,000,000 rows';
  return [
    timeBeside(name, ten.ms, { name: 'csv-parse alone', ms: parsed.ms }, 1.6),
    ...(miller === undefined
      ? []
      : [timeBeside('the same', ten.ms, { name: 'mlr --icsv --ojson cat', ms: miller })]),
    atMost('its peak memory', ten.peak / 2 ** 20, 200, 'MB'),
    ...growth('bulk validate --local', one, ten),
    ...(grouped === undefined
      ? []
      : [
          timeBeside(
            'bulk validate --local, 1,000,000 rows with an error each, told together',
            grouped.ms,
            { name: 'csv-parse alone', ms: parsedWrong.ms },
            1.6,
          ),
          atMost('its peak memory', grouped.peak / 2 ** 20, 200, 'MB'),
        ]),
    timeBeside('the same, every error as a line of CSV', listed.ms, {
      name: 'csv-parse alone',
      ms: parsedWrong.ms,
    }),
    atMost('its peak memory', listed.peak / 2 ** 20, 200, 'MB'),
  ];
}

function converted(file: string): number | undefined {
  if (spawnSync('mlr', ['--version']).status !== 0) return undefined;
  const began = performance.now();
  spawnSync('mlr', ['--icsv', '--ojson', 'cat', file], { stdio: ['ignore', 'ignore', 'inherit'] });
  return performance.now() - began;
}
