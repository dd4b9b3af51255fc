import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { PlanFile } from '../../src/api/schemas/plan-file.ts';
import { serializePlan } from '../../src/bulk/plan/file.ts';
import { hasPostgres, useServer } from '../support/postgres.ts';
import type { Workspace } from '../support/workspace.ts';
import { earlierMachine, madeOf, restoreTeam } from './fixture.ts';
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
      const { made, intents: written } = madeOf('team');
      return teamState(workspace, database, made, written);
    },
    // One that was moved into it, and an upload by several workers.
    { extra: [1100, 3700, 3800] },
  );
});

test('a plan is sealed as it was', async () => {
  const { folder } = kept(await earlierMachine('machine'));
  for (const name of ['december.plan', 'begun.plan']) {
    const bytes = readFileSync(join(folder, name));
    const { sha256, rows, ...head } = PlanFile.parse(JSON.parse(bytes.toString()));
    const made = serializePlan({ ...head, rows: rows.map(({ checksum: _, ...row }) => row) });
    expect(made).toEqual({ bytes, sha256 });
  }
});
