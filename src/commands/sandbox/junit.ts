import { open, stat } from 'node:fs/promises';
import { UsageError } from '../../platform/errors.ts';
import { type Html, html } from '../../platform/html.ts';

/** A step or check, reported as a test case. */
export interface JunitCase {
  readonly name: string;
  readonly line: number;
  readonly status: 'held' | 'failed' | 'skipped';
  /** Why the test case failed, one line per reason. */
  readonly lines: readonly string[];
  readonly durationMs: number;
}

export interface JunitSuite {
  readonly name: string;
  readonly file: string;
  readonly cases: readonly JunitCase[];
}

/**
 * XML 1.0 cannot represent these characters, even as escapes. The markup template already replaces control characters.
 */
const unwritable = /[\ufffe\uffff]/g;

const plain = (text: string): string => text.toWellFormed().replace(unwritable, '\ufffd');

/** Builds a JUnit report as CI systems read it. Pure. */
export function junitReport(suites: readonly JunitSuite[]): string {
  const counts = countsOf(suites.flatMap(({ cases }) => cases));
  return `<?xml version="1.0" encoding="UTF-8"?>\n${
    html`<testsuites name="errand sandbox test" tests="${counts.tests}" failures="${counts.failures}" errors="0" skipped="${counts.skipped}" time="${counts.time}">
${suites.map(suiteOf)}</testsuites>
`.text
  }`;
}

function suiteOf({ name, file, cases }: JunitSuite): Html {
  const { tests, failures, skipped, time } = countsOf(cases);
  return html`<testsuite name="${plain(name)}" file="${plain(file)}" tests="${tests}" failures="${failures}" errors="0" skipped="${skipped}" time="${time}">
${cases.map((one) => caseOf(file, one))}</testsuite>
`;
}

function caseOf(file: string, { name, line, status, lines, durationMs }: JunitCase): Html {
  const failure = html`<failure message="${plain(lines[0] ?? '')}" type="expectation">${plain(lines.join('\n'))}</failure>`;
  const inside = status === 'failed' ? failure : status === 'skipped' ? html`<skipped/>` : undefined;
  return html`<testcase name="${plain(name)}" classname="${plain(file)}" file="${plain(file)}" line="${line}" time="${seconds(durationMs)}">${inside}</testcase>
`;
}

const countsOf = (cases: readonly JunitCase[]) => ({
  tests: cases.length,
  failures: cases.filter(({ status }) => status === 'failed').length,
  skipped: cases.filter(({ status }) => status === 'skipped').length,
  time: seconds(cases.reduce((sum, { durationMs }) => sum + durationMs, 0)),
});

const seconds = (ms: number): string => (ms / 1000).toFixed(3);

/** Matches the start of a JUnit report that any program has written. */
const reportStart = /^\uFEFF?\s{0,9}<(?:\?xml|testsuite)/;

/**
 * Checks that a report may be written to a path. An earlier report may be replaced, but not the scenario or any other
 * file that was named by mistake.
 * @throws UsageError before anything is played.
 */
export async function checkReportPlace(path: string): Promise<void> {
  // If stat fails, let the attempt to write the report say why.
  const there = await stat(path).catch(() => undefined);
  if (there?.isDirectory()) throw new UsageError(`--report: ${path} is a folder; name a file`);
  if (!there?.isFile() || there.size === 0) return;
  if (reportStart.test(await firstBytesOf(path))) return;
  throw new UsageError(
    `--report: ${path} is there, and is no JUnit report; name another file, so that it is not written over`,
  );
}

/**
 * Reads the first bytes of a file. Returns an empty text if the file is unreadable, so that the file is not replaced.
 */
async function firstBytesOf(path: string): Promise<string> {
  const file = await open(path).catch(() => undefined);
  if (!file) return '';
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(64), 0, 64, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}
