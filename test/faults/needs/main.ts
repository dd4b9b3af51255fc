import { PostgresServer, type TeamDatabase } from '../../support/postgres.ts';
import { Runner } from '../../support/runner.ts';
import { atOnce } from '../at-once.ts';
import { type DoorName, openDoors } from './doors.ts';
import { type History, historyOf } from './history.ts';
import { playHistory } from './play.ts';
import { shrunk } from './shrink.ts';

/**
 * Plays random histories. @param on doors to draw from. @param isShared whether the journals of each are in one database.
 * @returns whether each need of each history had one order.
 */
export async function playHistories(
  count: number,
  firstSeed: number,
  workers: number,
  { on = openDoors, isShared = false }: { readonly on?: readonly DoorName[]; readonly isShared?: boolean },
): Promise<boolean> {
  const server = isShared ? await PostgresServer.start() : undefined;
  const database = async (): Promise<TeamDatabase | undefined> => server?.newDatabase();
  console.log(`${count} histories, seeds ${firstSeed} to ${firstSeed + count - 1}, by ${on.join(', ')}`);
  const idle: (readonly [Runner, Runner])[] = [];
  let commands = 0;
  const failed: number[] = [];
  const startedAt = Date.now();
  await atOnce(
    Array.from({ length: count }, (_, at) => firstSeed + at),
    workers,
    async (seed) => {
      const runners = idle.pop() ?? ([new Runner(), new Runner()] as const);
      const history = historyOf(seed, on, { isShared });
      const played = await playHistory(history, runners, await database());
      commands += played.commands;
      if (played.findings.length > 0) {
        failed.push(seed);
        const play = async (one: History) => playHistory(one, runners, await database());
        const least = await shrunk(history, played, play);
        console.log([`seed ${seed}:`, ...least.map((line) => `  ${line}`)].join('\n'));
      }
      idle.push(runners);
    },
  );
  await Promise.all(idle.flat().map((runner) => runner.stop()));
  await server?.remove();
  const seconds = Math.round((Date.now() - startedAt) / 1000);
  console.log(
    `${count - failed.length} passed, ${failed.length} failed; ${commands} commands in ${seconds} s`,
  );
  if (failed.length > 0) console.log(`failed: ${failed.join(', ')}`);
  return failed.length === 0;
}
