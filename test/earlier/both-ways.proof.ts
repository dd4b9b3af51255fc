import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { hangsAfterMs } from '../support/limits.ts';
import { type TeamDatabase, useServer } from '../support/postgres.ts';
import { errand } from '../support/run.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';
import { buildEarlier, type EarlierBuild } from './build.ts';
import { earlierMachine, madeOf, withProgram } from './fixture.ts';
import { makeState } from './made.ts';
import { describeResumed, machineState, reads, teamState } from './resumed.ts';

// Without PostgreSQL, ssh-keygen or the earlier commit it fails: a proof that leaves something out is none.

const own = join(fileURLToPath(new URL('../..', import.meta.url)), 'bin/errand.js');

const stillClock = fileURLToPath(new URL('./still.cjs', import.meta.url));

let earlier: EarlierBuild;
const workspaces: Workspace[] = [];
beforeAll(() => {
  earlier = buildEarlier();
});
afterAll(() => {
  for (const workspace of workspaces) workspace.remove();
  earlier.remove();
});

const kept = (workspace: Workspace): Workspace => {
  workspaces.push(workspace);
  return workspace;
};

/** What every list and report prints of a state, in JSON where it has that. */
async function printed(workspace: Workspace): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const args of reads) {
    const form = args.includes('results') ? [] : ['-o', 'json'];
    const { code, stdout, stderr } = await errand(workspace, [...args, ...form]);
    expect(code, `errand ${args.join(' ')}: ${stderr}`).toBe(0);
    found[args.join(' ')] = stdout;
  }
  return found;
}

/** Once this build has read a state, the earlier one prints the same of it at the same time. */
async function expectAlike(going: Workspace): Promise<void> {
  const { environment } = going;
  const at = Date.now() + Number(environment.CLOCK_SET_MS);
  const still = {
    NODE_OPTIONS: `${environment.NODE_OPTIONS ?? ''} --require ${stillClock}`,
    STILL_MS: String(at),
  };
  const workspace = { ...going, environment: { ...environment, ...still } };
  await printed(withProgram(workspace, own));
  const now = await printed(workspace);
  expect(await printed(withProgram(workspace, earlier.program))).toEqual(now);
}

describeResumed(
  'the earlier build goes on with what this one left on a machine',
  async () => {
    const workspace = kept(makeWorkspace({ ERRAND_NO_INPUT: '1' }));
    const made = await makeState(workspace);
    withProgram(workspace, earlier.program);
    return machineState(workspace, made);
  },
  { isSent: true },
);

describe('the earlier build goes on with what this one left in the database of a team', () => {
  const server = useServer();
  describeResumed(
    'from the same machine',
    async () => {
      const database = await server().newDatabase('database');
      const workspace = kept(makeWorkspace({ ERRAND_NO_INPUT: '1', ERRAND_DATABASE_URL: database.url }));
      const made = await makeState(workspace);
      await untilGone(database);
      withProgram(workspace, earlier.program);
      return teamState(workspace, database, made);
    },
    { extra: [1100, 3700, 3800], isSent: true },
  );
});

/** Waits until the leases of commands that were killed have ended. */
const untilGone = (database: TeamDatabase): Promise<void> =>
  vi.waitFor(
    async () => {
      const held = 'SELECT id FROM errand.leases WHERE until > extract(epoch FROM now()) * 1000';
      expect(await database.rows(held)).toEqual([]);
    },
    { timeout: hangsAfterMs, interval: 1000 },
  );

describe('there and back', () => {
  let workspace: Workspace;

  test('both print the same of what the earlier build left', async () => {
    workspace = kept(await earlierMachine('machine'));
    await expectAlike(workspace);
  });

  describeResumed('this build goes on with it', async () => {
    const { made, intents: written } = madeOf('machine');
    return machineState(withProgram(workspace, own), made, written);
  });

  test('and both print the same of what it has become', () => expectAlike(workspace));
});
