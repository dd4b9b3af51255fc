/**
 * Makes `fixture/` anew with the build of `earlierCommit`, by its own commands: `npx tsx test/earlier/make-fixture.ts`, on a
 * machine with PostgreSQL and ssh-keygen. What the tests compare with it, literally, changes with it.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { PostgresServer } from '../support/postgres.ts';
import { makeWorkspace, type Workspace } from '../support/workspace.ts';
import { buildEarlier } from './build.ts';
import { intentsOf, intentsOfTeam, keepMachine, keepTeam, madeIn, setClock, withProgram } from './fixture.ts';
import { makeState, ownMachine } from './made.ts';

const begun = '2026-05-04T09:00:00.000Z';

/** A workspace in the folder that the fixtures name. */
function workspace(program: string, more: Record<string, string> = {}): Workspace {
  rmSync(madeIn, { recursive: true, force: true });
  for (const folder of [madeIn, join(madeIn, '.config')]) mkdirSync(folder, { mode: 0o700 });
  const made = makeWorkspace({
    ERRAND_NO_INPUT: '1',
    HOME: madeIn,
    ERRAND_CONFIG_DIR: join(madeIn, '.config'),
    ERRAND_STATE_DIR: join(madeIn, '.state'),
    NODE_OPTIONS: ownMachine,
    ...more,
  });
  withProgram(made, program);
  setClock(made, begun);
  return { ...made, folder: madeIn };
}

/** The time of a machine whose clock was set. */
const timeOf = ({ environment }: Workspace): string =>
  new Date(Date.now() + Number(environment.CLOCK_SET_MS)).toISOString();

const build = buildEarlier();
const server = await PostgresServer.start();
try {
  const machine = workspace(build.program);
  const own = await makeState(machine);
  keepMachine('machine', machine, { at: timeOf(machine), made: own, intents: intentsOf(machine) });
  machine.remove();
  const database = await server.newDatabase('database');
  const team = workspace(build.program, { ERRAND_DATABASE_URL: database.url });
  const made = await makeState(team);
  keepMachine('team', team, { at: timeOf(team), made, intents: await intentsOfTeam(database) });
  keepTeam(database);
  team.remove();
} finally {
  await server.remove();
  build.remove();
  rmSync(madeIn, { recursive: true, force: true });
}
