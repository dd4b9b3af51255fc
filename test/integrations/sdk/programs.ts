import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Project } from '../../support/packed.ts';

/** Prologue of every program. Output is one line of JSON per call of `tell`. */
const beginning = `
import { createClient } from 'errand';
import { DuplicateError, ErrandError, InDoubtError, openJournal, PolicyError, placeOrder, resumeOrder } from 'errand/safely';
const { SERVICE: baseUrl, KEY: apiKey, FOLDER: folder, ORDER, POLICY: policy } = process.env;
const order = JSON.parse(ORDER);
const tell = (value) => console.log(JSON.stringify(value));
const failure = (promise) => promise.then(
  (value) => ({ value }),
  (error) => ({ name: error.name, category: error.category, message: error.message, facts: error.facts, approval: error.approval, verdict: error.verdict?.outcome, orders: error.orders, differences: error.differences, exitCode: error.exitCode }),
);
const client = createClient({ baseUrl, apiKey });
const journal = await openJournal({ folder, policy, program: 'shop' });
/** Sends orders, and never learns what came of them. */
const deaf = (after = () => {}) => createClient({ baseUrl, apiKey, retries: 0, transport: async (url, init) => {
  const response = await fetch(url, init);
  if (init.method !== 'POST') return response;
  await after();
  throw new Error('the line is dead');
} });
`;

/** An error as reported by a program; other values are only compared. */
export interface Told {
  readonly name?: string;
  readonly category?: string;
  readonly message?: string;
  readonly approval?: string;
  readonly orders?: readonly Readonly<Record<string, unknown>>[];
  readonly facts?: {
    readonly next: readonly { readonly command: string }[];
    readonly [fact: string]: unknown;
  };
}

export interface Ended {
  readonly code: number | null;
  /** Values reported by the program. */
  readonly told: readonly Told[];
  readonly stderr: string;
}

/** Runs programs against the packed package of a project. */
export function programsOf(project: Project) {
  let programs = 0;
  /** @param until kills the program once this text appears on stdout. */
  return async (
    source: string,
    environment: Readonly<Record<string, string | undefined>>,
    until?: string,
  ): Promise<Ended> => {
    programs += 1;
    const file = `program-${programs}.mjs`;
    writeFileSync(join(project.folder, file), beginning + source);
    const child = spawn(process.execPath, [file], { cwd: project.folder, env: environment });
    let stdout = '';
    let stderr = '';
    child.stdout.on('data', (text) => {
      stdout += text;
      if (until !== undefined && stdout.includes(until)) child.kill('SIGKILL');
    });
    child.stderr.on('data', (text) => {
      stderr += text;
    });
    const code = await new Promise<number | null>((resolve) => child.on('close', resolve));
    return {
      code,
      told: stdout
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
      stderr,
    };
  };
}
