import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { PlanFile } from '../../src/api/schemas/plan-file.ts';
import { serializePlan } from '../../src/bulk/plan/file.ts';
import type { Workspace } from '../program/workspace.ts';
import { hasPostgres, useServer } from '../team/postgres.ts';
import {
  chainOf,
  chainOfTeam,
  earlierMachine,
  intentsOf,
  intentsOfTeam,
  madeOf,
  restoreTeam,
} from './fixture.ts';
import { describeResumed } from './resumed.ts';

const made: Workspace[] = [];
const kept = (workspace: Workspace): Workspace => {
  made.push(workspace);
  return workspace;
};
afterAll(() => {
  for (const workspace of made) workspace.remove();
});

describeResumed('what an earlier build left on a machine', async () => {
  const workspace = kept(await earlierMachine('machine'));
  return {
    ...{ workspace, made: madeOf('machine').made },
    ...{ intents: async () => intentsOf(workspace), chain: async () => chainOf(workspace) },
  };
});

describe.runIf(hasPostgres)('what an earlier build left in the database of a team', () => {
  const server = useServer();
  describeResumed(
    'on a machine that has never seen it',
    async () => {
      const database = await server().newDatabase('database');
      const workspace = kept(await earlierMachine('team', { ERRAND_DATABASE_URL: database.url }));
      restoreTeam(database, workspace.folder);
      return {
        ...{ workspace, made: madeOf('team').made },
        ...{ intents: () => intentsOfTeam(database), chain: () => chainOfTeam(database) },
      };
    },
    // One that was moved into it, and an upload by several workers.
    { extra: [1100, 3700, 3800] },
  );
});

test.each(['machine', 'team'] as const)(
  'the intents of the %s are those that were written down beside it',
  async (name) => {
    const { intents } = madeOf(name);
    expect(intents.length).toBeGreaterThan(25);
    if (name === 'machine') expect(intentsOf(kept(await earlierMachine('machine')))).toEqual(intents);
  },
);

test('a plan is sealed as it was', async () => {
  const { folder } = kept(await earlierMachine('machine'));
  for (const name of ['december.plan', 'begun.plan']) {
    const bytes = readFileSync(join(folder, name));
    const { sha256, rows, ...head } = PlanFile.parse(JSON.parse(bytes.toString()));
    const made = serializePlan({ ...head, rows: rows.map(({ checksum: _, ...row }) => row) });
    expect(made).toEqual({ bytes, sha256 });
  }
});
