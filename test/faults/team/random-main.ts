import { PostgresServer } from '../../support/postgres.ts';
import { atOnce } from '../at-once.ts';
import { checkOrders } from '../checker.ts';
import { startService } from '../service.ts';
import { Crasher } from './crasher.ts';
import { runTeamIntent, type TeamReport } from './run.ts';

/** One wallet covers more orders than this. */
const runsPerKey = 500;

export interface TeamRuns {
  readonly runs: number;
  readonly firstSeed: number;
  readonly workers: number;
  /** Mean server uptime between crashes, ms; undefined means no crashes. */
  readonly crashEveryMs: number | undefined;
  /** Keeps running until the server has crashed this many times. */
  readonly crashes: number;
}

/** @returns whether no problem was found. */
export async function runTeamsRandomly(given: TeamRuns): Promise<boolean> {
  const { runs, firstSeed, workers, crashEveryMs, crashes } = given;
  const [service, server] = await Promise.all([startService(), PostgresServer.start()]);
  const minted: Promise<string>[] = [];
  console.log(`${runs} runs of a team, seeds ${firstSeed} to ${firstSeed + runs - 1}`);
  const reports: TeamReport[] = [];
  const crasher = crashEveryMs === undefined ? undefined : new Crasher(server, firstSeed, crashEveryMs);
  try {
    const indexes = Array.from({ length: runs }, (_, index) => index);
    const isEnough = (): boolean => crasher === undefined || crasher.crashes >= crashes;
    const runOne = async (index: number): Promise<void> => {
      minted[Math.floor(index / runsPerKey)] ??= service.mint();
      const key = (await minted[Math.floor(index / runsPerKey)]) ?? '';
      const { baseUrl, shopUrl, paidOrders } = service;
      reports.push(await runTeamIntent(server, { baseUrl, shopUrl, key, paidOrders }, firstSeed + index));
    };
    await atOnce(indexes, workers, runOne);
    for (let next = runs; !isEnough(); next += workers)
      await atOnce(
        Array.from({ length: workers }, (_, index) => next + index),
        workers,
        runOne,
      );
    await crasher?.stop();
    const keys = await Promise.all(minted);
    await Promise.all(keys.map((key) => service.untilPlaced(key)));
    const intents = reports.flatMap((report) => report.intents);
    const verdict = await checkOrders(service.baseUrl, keys, intents, await service.paidOrders());
    return tell(reports, verdict, crasher?.crashes ?? 0);
  } finally {
    await crasher?.stop();
    await Promise.all([service.stop(), server.remove()]);
  }
}

function tell(
  reports: readonly TeamReport[],
  verdict: Awaited<ReturnType<typeof checkOrders>>,
  crashes: number,
): boolean {
  const lying = reports.filter(({ lies }) => lies.length > 0);
  for (const { seed, scenario, lies, attempts } of lying)
    console.log(JSON.stringify({ seed, scenario, lies, attempts }));
  const { intents, orders, missing, doubled, unrequested } = verdict;
  console.log(`intents ${intents}, orders ${orders}, missing ${missing.length}, doubled ${doubled.length}`);
  const counts = new Map<string, number>();
  for (const { code, signal } of reports.flatMap(({ attempts }) => attempts)) {
    const end = String(code ?? signal);
    counts.set(end, (counts.get(end) ?? 0) + 1);
  }
  console.log(`ends: ${[...counts].map(([end, count]) => `${end} x ${count}`).join(', ')}`);
  const wrong = [...missing, ...doubled, ...unrequested];
  if (wrong.length > 0) console.log(`wrong: ${wrong.slice(0, 20).join(', ')}`);
  console.log(
    `${crashes} crashes of the database; ${reports.length - lying.length} passed, ${lying.length + wrong.length} failed`,
  );
  return wrong.length + lying.length === 0;
}
