import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { PlanFile } from '../../src/api/schemas/plan-file.ts';
import { serializePlan } from '../../src/bulk/plan/file.ts';
import { makeKey } from '../support/approval-workspace.ts';
import { hasPostgres, useServer } from '../support/postgres.ts';
import { errand } from '../support/run.ts';
import type { Workspace } from '../support/workspace.ts';
import { earlierMachine, madeOf, restoreTeam } from './fixture.ts';
import { shop } from './made.ts';
import { describeResumed, machineState, teamState } from './resumed.ts';

const workspaces: Workspace[] = [];
const kept = (workspace: Workspace): Workspace => {
  workspaces.push(workspace);
  return workspace;
};
afterAll(() => {
  for (const workspace of workspaces) workspace.remove();
});

describeResumed('what an earlier build left on a machine', async () => {
  const workspace = kept(await earlierMachine('machine'));
  const { made, intents: written } = madeOf('machine');
  return machineState(workspace, made, written);
});

describe.runIf(hasPostgres)('what an earlier build left in the database of a team', () => {
  const server = useServer();
  describeResumed(
    'on a machine that has never seen it',
    async () => {
      const database = await server().newDatabase('database');
      const workspace = kept(await earlierMachine('team', { ERRAND_DATABASE_URL: database.url }));
      restoreTeam(database, workspace.folder);
      await signPolicy(workspace);
      const { made, intents: written } = madeOf('team');
      return teamState(workspace, database, made, written);
    },
    // One that was moved into it, and an upload by several workers.
    { extra: [1100, 3700, 3800] },
  );
});

/** What the team follows is not signed, which stops its orders until it is published again. */
async function signPolicy(workspace: Workspace): Promise<void> {
  const order = ['order', 'create', '--product', `${shop}/test-never`, '--max-price', '$49'];
  for (const args of [
    [...order, '--ship-to', 'home'],
    ['policy', 'show'],
    ['bulk', 'resume', 'december'],
  ]) {
    const { code, stderr } = await errand(workspace, args);
    expect([args, code, stderr]).toEqual([args, 11, expect.stringContaining('(policy_unsigned)')]);
    expect(stderr).toContain('errand policy publish');
  }
  expect((await errand(workspace, ['audit', 'verify'])).code).toBe(7);
  expect((await errand(workspace, ['doctor'])).stdout).toContain('is not signed');
  const { code, stderr } = await errand(workspace, [
    'policy',
    'publish',
    '--key',
    makeKey(workspace, 'publisher'),
  ]);
  expect(code, stderr).toBe(0);
}

test('a plan is sealed as it was', async () => {
  const { folder } = kept(await earlierMachine('machine'));
  for (const name of ['december.plan', 'begun.plan']) {
    const bytes = readFileSync(join(folder, name));
    const { sha256, rows, ...head } = PlanFile.parse(JSON.parse(bytes.toString()));
    const made = serializePlan({ ...head, rows: rows.map(({ checksum: _, ...row }) => row) });
    expect({ ...made, chunks: Buffer.concat(made.chunks) }).toEqual({ chunks: bytes, sha256 });
  }
});
