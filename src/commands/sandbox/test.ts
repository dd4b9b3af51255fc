import type { Output } from '../../api/outputs/index.ts';
import { defineCommand } from '../../cli/define.ts';
import { countText } from '../../format/counts.ts';
import type { Column } from '../../format/result.ts';
import { saveFile } from '../../format/save-file.ts';
import { ErrandError, exitCodes, UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { checkReportPlace, type JunitSuite, junitReport } from './junit.ts';
import { play, suiteOf } from './play-file.ts';
import { readScenario, type ScenarioFile } from './scenario-file.ts';

type Row = Output<'ScenarioCheck'>;

const columns: readonly Column[] = [
  { name: 'result', path: 'status', kind: 'status', weight: 10 },
  { name: 'where', path: 'where', weight: 7 },
  { name: 'check', path: 'check', weight: 9 },
  { name: 'why', path: 'why', weight: 8, isProse: true },
];

export const test = defineCommand({
  name: 'test',
  summary: 'Play scenario files: do their steps, and check what must be true at the end',
  description:
    'Each file gets a sandbox of its own, in memory, whose clock stands still unless the file says otherwise: advance moves it. Its steps are done one after the other; what comes after one that fails is skipped. Every file is checked before the first is played. Nothing is left behind.',
  arguments: [
    {
      name: 'files',
      description: 'scenario files; - reads one from stdin',
      completes: 'files',
      required: true,
      variadic: true,
    },
  ],
  options: {
    report: {
      kind: 'text',
      placeholder: 'junit=file',
      completes: 'files',
      description: 'write a JUnit report too, for a CI system',
    },
  },
  examples: [
    { command: 'errand sandbox test shop.yaml', note: 'what held, and what did not' },
    { command: 'errand sandbox test scenarios/*.yaml --report junit=report.xml', note: 'for a CI system' },
  ],
  output: { list: 'ScenarioCheck' },
  exitCodes: { 7: 'a step failed, or something was not true' },
  readsOnly: true,
  related: ['sandbox exec', 'sandbox serve', 'schema'],
  async run(context, { files, report }) {
    const path = report === undefined ? undefined : reportPath(report);
    if (path !== undefined) await checkReportPlace(path);
    const read = await readAll(context, files, path);
    warnEmpty(context, read);
    const suites: JunitSuite[] = [];
    const count = { held: 0, failed: 0, skipped: 0 };
    return {
      kind: 'list',
      columns,
      id: 'where',
      rows: playAll(),
      hints: () => [summaryOf(count)],
      exitCode: () => (count.failed > 0 ? exitCodes.ended_badly : 0),
    };

    async function* playAll(): AsyncGenerator<Row> {
      for (const file of read) {
        const rows: Row[] = [];
        const suite = { name: file.scenario.description ?? file.name, file: file.name, rows };
        for await (const row of play(context, file)) {
          rows.push(row);
          count[row.status] += 1;
          yield row;
        }
        suites.push(suiteOf(suite));
      }
      if (path !== undefined) await saveFile(path, [junitReport(suites)], { force: true });
    }
  },
});

/**
 * Reads all files before the first one is played.
 * @param report is the path of a report. If a file is broken, the report says so, and a CI system can show it.
 * @throws UsageError for the first broken file.
 */
async function readAll(
  context: Context,
  files: readonly string[],
  report: string | undefined,
): Promise<ScenarioFile[]> {
  const read: ScenarioFile[] = [];
  const suites: JunitSuite[] = [];
  let failure: ErrandError | undefined;
  for (const file of files) {
    const suite = { name: file, file };
    const check = { name: 'the file can be played', line: 1, durationMs: 0 };
    try {
      read.push(await readScenario(context, 'files', file));
      suites.push({ ...suite, cases: [{ ...check, status: 'skipped', lines: [] }] });
    } catch (error) {
      if (!(error instanceof ErrandError)) throw error;
      failure ??= error;
      suites.push({ ...suite, cases: [{ ...check, status: 'failed', lines: [error.message] }] });
    }
  }
  if (!failure) return read;
  if (report !== undefined) await saveFile(report, [junitReport(suites)], { force: true });
  throw failure;
}

/**
 * Warns about scenarios that check nothing, since such a scenario always passes.
 * @throws UsageError if no scenario checks anything.
 */
function warnEmpty(context: Pick<Context, 'note'>, files: readonly ScenarioFile[]): void {
  const empty = files.filter(({ scenario: { steps, expect } }) => steps.length + expect.length === 0);
  const warningFor = ({ name }: ScenarioFile): string =>
    `${name} has neither steps nor expect: nothing in it would be checked`;
  const [first] = empty;
  if (first && empty.length === files.length)
    throw new UsageError(warningFor(first), {
      hint: 'Say under expect what must be true at the end.',
      next: [{ command: 'errand schema Scenario', when: 'to see what it can have' }],
    });
  for (const file of empty) context.note(warningFor(file));
}

const summaryOf = ({ held, failed, skipped }: Readonly<Record<Row['status'], number>>): string =>
  `${countText(held)} held, ${countText(failed)} failed${skipped > 0 ? `, ${countText(skipped)} skipped` : ''}`;

/** @throws UsageError for anything but `junit=FILE`. */
function reportPath(report: string): string {
  const [, path] = /^junit=(.+)$/.exec(report) ?? [];
  if (path !== undefined && path !== '-') return path;
  throw new UsageError(`--report takes junit=FILE, such as junit=report.xml, not "${report}"`);
}
