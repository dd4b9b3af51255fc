import { type Html, html } from '../../markup.ts';

/** A step or a check as a test case. */
export interface JunitCase {
  readonly name: string;
  readonly line: number;
  readonly status: 'held' | 'failed' | 'skipped';
  /** Why it failed, a line each. */
  readonly lines: readonly string[];
  /** ms. */
  readonly tookMs: number;
}

export interface JunitSuite {
  readonly name: string;
  readonly file: string;
  readonly cases: readonly JunitCase[];
}

/** XML 1.0 has no form for these, escaped or not; control characters are left to the template. */
const unwritable = /[\ufffe\uffff]/g;

const plain = (text: string): string => text.toWellFormed().replace(unwritable, '\ufffd');

/** Reports as the JUnit consumers of CI systems read them. Pure. */
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

function caseOf(file: string, { name, line, status, lines, tookMs }: JunitCase): Html {
  const failure = html`<failure message="${plain(lines[0] ?? '')}" type="expectation">${plain(lines.join('\n'))}</failure>`;
  const inside = status === 'failed' ? failure : status === 'skipped' ? html`<skipped/>` : undefined;
  return html`<testcase name="${plain(name)}" classname="${plain(file)}" file="${plain(file)}" line="${line}" time="${seconds(tookMs)}">${inside}</testcase>
`;
}

const countsOf = (cases: readonly JunitCase[]) => ({
  tests: cases.length,
  failures: cases.filter(({ status }) => status === 'failed').length,
  skipped: cases.filter(({ status }) => status === 'skipped').length,
  time: seconds(cases.reduce((sum, { tookMs }) => sum + tookMs, 0)),
});

const seconds = (ms: number): string => (ms / 1000).toFixed(3);
