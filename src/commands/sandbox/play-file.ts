import type { Output } from '../../api/outputs/index.ts';
import type { Context } from '../../run/context.ts';
import type { JunitSuite } from './junit.ts';
import type { ScenarioFile } from './scenario-file.ts';

type Row = Output<'ScenarioCheck'>;

/** Plays one file in a sandbox of its own. The sandbox's clock is frozen unless the file says otherwise. */
export async function* play(context: Context, file: ScenarioFile): AsyncGenerator<Row> {
  const { startSandbox } = await import('../../sandbox-door.ts');
  const { clock } = file.scenario;
  const scenario = { ...file.scenario, clock: { ...clock, frozen: clock.frozen ?? true } };
  const given = { ...file, scenario };
  const sandbox = await startSandbox({
    seed: undefined,
    speed: undefined,
    faults: [],
    scenario: given,
    isServed: false,
  });
  try {
    for await (const outcome of sandbox.rehearse(scenario, context.signal)) {
      const line = file.lineOf([outcome.section, outcome.index]);
      yield {
        file: file.name,
        line,
        where: `${file.name}:${line}`,
        section: outcome.section,
        check: outcome.what,
        status: outcome.status,
        why: outcome.differences.map(differenceText).join('; ') || null,
        differences: outcome.differences.map(({ field, expected, actual }) => ({
          field,
          expected: expected ?? null,
          actual: actual ?? null,
        })),
        took_ms: Math.round(outcome.durationMs * 1000) / 1000,
      };
    }
  } finally {
    await sandbox.close();
  }
}

interface Difference {
  readonly field: string;
  readonly expected: unknown;
  readonly actual: unknown;
}

const differenceText = ({ field, expected, actual }: Difference): string =>
  `${field === '' ? '' : `${field}: `}${shown(expected) === shown(actual) ? mismatch(expected, actual, quoted) : mismatch(expected, actual, shown)}`;

const mismatch = (expected: unknown, actual: unknown, show: (value: unknown) => string): string =>
  `expected ${show(expected)}, got ${show(actual)}`;

/** Quotes texts, so that the text "2500" can be told apart from the number 2500. */
const quoted = (value: unknown): string => shortened(JSON.stringify(value) ?? 'nothing');

/** Maximum length of a value that is shown in one line. */
const maxShown = 300;

const shown = (value: unknown): string => (typeof value === 'string' ? shortened(value) : quoted(value));

function shortened(text: string): string {
  return text.length > maxShown ? `${text.slice(0, maxShown)}…` : text;
}

/** Converts the results of a file to a JUnit suite. */
export const suiteOf = ({
  name,
  file,
  rows,
}: {
  name: string;
  file: string;
  rows: readonly Row[];
}): JunitSuite => ({
  name,
  file,
  cases: rows.map(({ check, line, status, differences, took_ms: durationMs }) => ({
    name: check,
    line,
    status,
    lines: differences.map(differenceText),
    durationMs,
  })),
});
