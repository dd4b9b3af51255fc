import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { shell } from '../support/run.ts';
import { makeWorkspace } from '../support/workspace.ts';
import { blocksOf, pages } from './markdown.ts';

interface Step {
  readonly name?: string;
  readonly run?: string;
}

const page = pages.find(({ name }) => name === 'docs/scripts.md');
const [job = ''] = page ? blocksOf(page, 'yaml') : [];
const steps: readonly Step[] = parse(job).jobs.shop.steps;

/** Runs the job's shell steps in turn, as the runner does: each by `bash -e`, and none after one that fails. */
async function run(scenario: string, tests: string) {
  const workspace = makeWorkspace();
  onTestFinished(() => workspace.remove());
  const at = (name: string) => join(workspace.folder, name);
  mkdirSync(at('scenarios'));
  writeFileSync(at('scenarios/shop.yaml'), scenario);
  writeFileSync(at('package.json'), JSON.stringify({ name: 'shop', scripts: { test: tests } }));
  writeFileSync(at('env'), '');
  const script = steps
    .flatMap(({ run: lines }) => (lines === undefined || lines === 'npm ci' ? [] : [lines]))
    // The program of this checkout stands in for the installed one.
    .map(
      (lines) =>
        `bash -e -o pipefail -c '${lines.replaceAll('npx errand', 'errand').replaceAll("'", `'\\''`)}'`,
    )
    .join(' &&\n');
  const ended = await shell(workspace, `export GITHUB_ENV="$PWD/env"\n${script}`);
  const read = (name: string) => readFileSync(at(name), 'utf8');
  return { ...ended, read };
}

const good = 'version: 1\nexpect:\n  - { wallet: default, body: { balance: 100000 } }\n';

test('the CI job of docs/scripts.md runs as a script: report, tests in a sandbox, a masked key', async () => {
  const { code, stdout, stderr, read } = await run(good, 'errand order list -o json');
  expect(code, stderr).toBe(0);
  expect(read('reports/scenarios.xml')).toMatch(/<testsuites [^>]*failures="0"/);
  const [, key] = /^ERRAND_API_KEY=(\w+_test_\w+)$/m.exec(read('env')) ?? [];
  expect(key).toBeDefined();
  expect(stdout).toContain(`::add-mask::${key}\n`);
});

test('it fails with its tests, and leaves a report of a file that is broken', async () => {
  expect((await run(good, 'exit 3')).code).toBe(3);
  const broken = await run('version: 1\norders: 5\n', 'true');
  expect(broken.code).toBe(2);
  expect(broken.read('reports/scenarios.xml')).toMatch(
    /failures="1"[\s\S]*the file can be played[\s\S]*orders/,
  );
});
