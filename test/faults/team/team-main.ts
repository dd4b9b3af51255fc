import { PostgresServer } from '../../support/postgres.ts';
import { type Service, startService } from '../service.ts';
import { LimitRaces } from './limit.ts';
import { runTeamsRandomly } from './random-main.ts';
import { raceForIntents } from './same-intents.ts';

/** How many of each test to run. */
export interface TeamForm {
  readonly processes: number;
  readonly intents: number;
  readonly races: number;
  readonly runs: number;
  readonly crashes: number;
}

export const longForm: TeamForm = { processes: 64, intents: 200, races: 100, runs: 2000, crashes: 500 };
/** For each change. */
export const boundedForm: TeamForm = { processes: 16, intents: 25, races: 10, runs: 100, crashes: 50 };

/** Mean server uptime between crashes, ms: long enough for half-second commands to succeed. */
const crashEveryMs = 1_200;

/** Tests the guarantees for several machines sharing a database. @returns whether no problem was found. */
export async function runTeam(form: TeamForm, seed: number, workers: number): Promise<boolean> {
  const began = Date.now();
  const raced = await races(form, seed);
  console.log(`races: ${Math.round((Date.now() - began) / 1000)} s`);
  const random = await runTeamsRandomly({
    runs: form.runs,
    firstSeed: seed,
    workers,
    crashEveryMs,
    crashes: form.crashes,
  });
  console.log(`all: ${Math.round((Date.now() - began) / 1000)} s`);
  return raced && random;
}

async function races(form: TeamForm, seed: number): Promise<boolean> {
  const [service, server] = await Promise.all([startService(), PostgresServer.start()]);
  try {
    const held = [await same(service, server, form, seed), await limits(service, server, form.races)];
    return held.every(Boolean);
  } finally {
    await Promise.all([service.stop(), server.remove()]);
  }
}

async function same(
  service: Service,
  server: PostgresServer,
  { processes, intents }: TeamForm,
  seed: number,
): Promise<boolean> {
  const raced = await raceForIntents(service, server, { processes, machines: 4, intents, seed });
  const { orders, missing, doubled, unrequested, findings, ends } = raced;
  console.log(
    `${processes} processes on 4 machines, ${intents} intents: ${orders} orders, ${missing.length} missing, ${doubled.length} doubled`,
  );
  console.log(`ends: ${[...ends].map(([code, count]) => `${code} x ${count}`).join(', ')}`);
  for (const finding of findings.slice(0, 20)) console.log(finding);
  return orders === intents && missing.length + doubled.length + unrequested.length + findings.length === 0;
}

async function limits(service: Service, server: PostgresServer, count: number): Promise<boolean> {
  const races = new LimitRaces(service, server);
  const findings: string[] = [];
  try {
    for (let race = 0; race < count; race += 1) findings.push(...(await races.race(race % 8)).findings);
  } finally {
    races.stop();
  }
  for (const finding of findings.slice(0, 20)) console.log(finding);
  console.log(`${count} races under a limit of a day, ${findings.length} findings`);
  return findings.length === 0;
}
