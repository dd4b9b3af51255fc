import { atOnce } from './at-once.ts';
import { checkOrders, type Verdict } from './checker.ts';
import { type RunReport, runIntent, type World } from './run.ts';
import { type Service, startService } from './service.ts';

/** One wallet covers more orders than this. */
const runsPerKey = 500;

/** A service with one key per group of runs. */
interface Keyed {
  readonly service: Service;
  readonly keys: readonly string[];
}

/** @returns whether no problem was found. */
export async function runRandomly(runs: number, firstSeed: number, workers: number): Promise<boolean> {
  const groups = Math.ceil(runs / runsPerKey);
  const plain = await keyed(await startService(), groups);
  const normalising = await keyed(await startService('--fault', 'normalise'), groups);
  console.log(`${runs} runs, seeds ${firstSeed} to ${firstSeed + runs - 1}`);
  const reports: RunReport[] = [];
  try {
    const indexes = Array.from({ length: runs }, (_, index) => index);
    await atOnce(indexes, workers, async (index) => {
      const group = Math.floor(index / runsPerKey);
      const worlds = { plain: worldOf(plain, group), normalising: worldOf(normalising, group) };
      reports.push(await runIntent(worlds, firstSeed + index));
    });
    const verdicts = [await verdictOf(plain, reports, false), await verdictOf(normalising, reports, true)];
    return tell(reports, verdicts);
  } finally {
    await Promise.all([plain, normalising].map(({ service }) => service.stop()));
  }
}

const keyed = async (service: Service, groups: number): Promise<Keyed> => ({
  service,
  keys: await Promise.all(Array.from({ length: groups }, () => service.mint())),
});

const worldOf = ({ service: { baseUrl, shopUrl }, keys }: Keyed, group: number): World => ({
  baseUrl,
  shopUrl,
  key: keys[group] ?? '',
});

/** Checks the service's orders against the intents sent to it. */
async function verdictOf(
  { service, keys }: Keyed,
  reports: readonly RunReport[],
  normalises: boolean,
): Promise<Verdict> {
  await Promise.all(keys.map((key) => service.untilPlaced(key)));
  const meant = reports.filter(({ scenario }) => scenario.normalises === normalises);
  const intents = meant.flatMap((report) => report.intents);
  return checkOrders(service.baseUrl, keys, intents, await service.paidOrders());
}

function tell(reports: readonly RunReport[], verdicts: readonly Verdict[]): boolean {
  const lying = reports.filter(({ lies }) => lies.length > 0);
  for (const { seed, scenario, lies, attempts } of lying)
    console.log(JSON.stringify({ seed, scenario, lies, attempts }));
  const sum = (count: (verdict: Verdict) => number): number =>
    verdicts.reduce((total, verdict) => total + count(verdict), 0);
  const counts = [
    `intents ${sum(({ intents }) => intents)}`,
    `orders ${sum(({ orders }) => orders)}`,
    `missing ${sum(({ missing }) => missing.length)}`,
    `doubled ${sum(({ doubled }) => doubled.length)}`,
  ];
  console.log(counts.join(', '));
  console.log(`ends: ${[...ends(reports)].map(([end, count]) => `${end} x ${count}`).join(', ')}`);
  const wrong = verdicts.flatMap(({ missing, doubled, unrequested }) => [
    ...missing,
    ...doubled,
    ...unrequested,
  ]);
  if (wrong.length > 0) console.log(`wrong: ${wrong.slice(0, 20).join(', ')}`);
  console.log(`${reports.length - lying.length} passed, ${lying.length + wrong.length} failed`);
  return wrong.length + lying.length === 0;
}

/** Counts attempts by exit code or signal. */
function ends(reports: readonly RunReport[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { code, signal } of reports.flatMap(({ attempts }) => attempts)) {
    const end = String(code ?? signal);
    counts.set(end, (counts.get(end) ?? 0) + 1);
  }
  return counts;
}
