import { doors, liveDoors, type Outcome, ownJournalDoors } from './doors.ts';
import { fileDoors, type History, type Need, type Run } from './history.ts';
import { feeCents, type TrueOrder } from './service.ts';
import { plainCeiling } from './spelling.ts';

export interface Finding {
  readonly rule: string;
  readonly hidden: string;
  readonly what: string;
}

export interface JudgedRun {
  readonly run: Run;
  readonly outcome: Outcome;
}

/** What was done before, as far as it counts later. */
export type Judged =
  | { readonly kind: 'elsewhere'; readonly hidden: string; readonly orderId: string }
  | {
      readonly kind: 'runs';
      readonly runs: readonly JudgedRun[];
      readonly before: readonly TrueOrder[];
      readonly after: readonly TrueOrder[];
      readonly at: number;
    };

interface Scene {
  readonly history: History;
  readonly runs: readonly JudgedRun[];
  readonly before: readonly TrueOrder[];
  /** Once the commands have ended, and before what the network holds back arrives. */
  readonly atEnd: readonly TrueOrder[];
  readonly after: readonly TrueOrder[];
  readonly past: readonly Judged[];
  readonly now: number;
}

/** What commands that ran at once did wrong. Compares only orders at the service, by the need the generator gave them. */
export function judgeRuns(scene: Scene): Finding[] {
  return [
    ...scene.history.needs.flatMap((need, at) => judgeNeed(scene, need, at)),
    ...scene.runs.flatMap((one) => judgeWords(scene, one)),
    ...judgeSpending(scene),
  ];
}

/** Whether our machines have spent more than their policy lets them. */
function judgeSpending({ history, after, past }: Scene): Finding[] {
  const { maxCents = Number.POSITIVE_INFINITY } = history;
  return [true, false].flatMap((isLive) => {
    const sum = spentBy(history, after, past, isLive);
    if (sum <= maxCents) return [];
    return [{ rule: 'overspent', hidden: '?', what: `${sum} cents are spent; ${maxCents} may be` }];
  });
}

/** What our machines' orders hold and have cost, cents. What was sent back may count or not. */
const spentBy = (
  { needs }: History,
  orders: readonly TrueOrder[],
  past: readonly Judged[],
  isLive: boolean,
  countsReturned = false,
): number =>
  orders
    .filter(
      ({ id, hidden, isReturned }) =>
        (countsReturned || !isReturned) &&
        !past.some((one) => one.kind === 'elsewhere' && one.orderId === id) &&
        needs.some(
          (need) =>
            need.hidden === hidden && need.organisation === 'ours' && liveDoors.has(need.door) === isLive,
        ),
    )
    .reduce((sum, { cents }) => sum + cents, 0);

function judgeNeed(scene: Scene, need: Need, at: number): Finding[] {
  const { before, after, runs } = scene;
  const { hidden, door } = need;
  const of = (orders: readonly TrueOrder[]) => orders.filter((order) => order.hidden === hidden);
  const known = of(before);
  const made = of(after).filter(({ id }) => !known.some((order) => order.id === id));
  const finding = (rule: string, what: string): Finding => ({ rule, hidden, what });
  const own = runs.filter(({ run }) => run.needs.includes(at));
  if (made.length === 0) return [];
  if (own.length === 0) return [finding('unrequested', `ordered ${made.length}, and no command was for it`)];
  // What was ordered for another occasion does not count for this one.
  const earlier = scene.past.flatMap((one) => (one.kind === 'runs' && fileDoors.has(door) ? one.runs : []));
  const meant = [...own, ...earlier.filter(({ run }) => run.needs.includes(at))];
  if (meant.some(({ run }) => run.isMeant && doors[run.door].meansNew(need))) return [];
  const live = known.filter(
    (order) => order.isLive && !isUnseen(scene, order) && !hadFailed(of(after), order, made),
  );
  // Users whose keys the service keeps apart can race; so can whoever looks at a list that lags.
  const isRace = isUserRace(scene, at, live);
  if (live.length > 0 && !isRace)
    return [
      finding(
        'two live',
        `ordered though ${live.map(({ id }) => id).join(', ')} is live${byOthers(scene, at)}`,
      ),
    ];
  if (made.length > 1 && !isRace)
    return [finding('ordered twice', `ordered ${made.length} times at once${byOthers(scene, at)}`)];
  // Whoever sees an order that lists may not show yet goes by that one.
  const lasts = [known.at(-1), known.findLast((order) => !isUnseen(scene, order))];
  const last = lasts.some((order) => order && !isWithdrawn(order, door)) ? undefined : lasts.at(-1);
  const isAgain = own.some(({ run }) => run.isMeant);
  if (!last || isAgain || isUserRace(scene, at, [last])) return [];
  if (!isWithdrawn(last, door)) return [];
  const how = last.isReturned ? 'returned' : 'cancelled';
  return [finding('bought back', `ordered though ${last.id} was ${how}`)];
}

/** Whether an order was taken back, and its door buys again only where that is asked for. */
const isWithdrawn = ({ isReturned, status }: TrueOrder, door: Need['door']): boolean =>
  isReturned || (status === 'cancelled' && !doors[door].passesCancelled);

/** Whether an order that was live when the commands began had failed by the time that others were made. */
function hadFailed(after: readonly TrueOrder[], { id }: TrueOrder, made: readonly TrueOrder[]): boolean {
  const now = after.find((order) => order.id === id);
  if (now?.status !== 'order_failed') return false;
  return made.every(({ madeAt }) => now.changedAt <= madeAt);
}

/** Whether lists may not show an order yet. */
const isUnlisted = ({ history: { habits }, now }: Scene, { madeAt }: TrueOrder): boolean =>
  habits.lagMs > 0 && now - madeAt <= habits.lagMs + lookMs;

/** Whether an order was made elsewhere, and is not listed yet. */
const isUnseen = (scene: Scene, order: TrueOrder): boolean =>
  scene.now - order.madeAt <= scene.history.habits.lagMs + lookMs &&
  scene.past.some((one) => one.kind === 'elsewhere' && one.orderId === order.id);

/** How long a command may take from its look to its order, ms. */
const lookMs = 10_000;

/** Says so if the commands before were those of other users. */
function byOthers({ history: { machines }, runs, past }: Scene, at: number): string {
  const usersOf = (those: readonly JudgedRun[]) =>
    those.filter(({ run }) => run.needs.includes(at)).map(({ run }) => machines[run.machine]?.user);
  const now = new Set(usersOf(runs));
  const before = usersOf(past.flatMap((one) => (one.kind === 'runs' ? one.runs : [])));
  return now.size > 1 || before.some((user) => !now.has(user)) ? ', among commands of other users' : '';
}

/** Whether users whose keys the service keeps apart ordered while no list showed the orders yet. */
function isUserRace({ history, runs, past, now }: Scene, at: number, orders: readonly TrueOrder[]): boolean {
  const { habits, machines } = history;
  const door = history.needs[at]?.door;
  if (habits.keysOf !== 'user' || history.isShared || (door && ownJournalDoors.has(door))) return false;
  const usersOf = (those: readonly JudgedRun[]) =>
    those.filter(({ run }) => run.needs.includes(at)).map(({ run }) => machines[run.machine]?.user);
  const lagMs = habits.lagMs + lookMs;
  const recent = past.flatMap((one) => (one.kind === 'runs' && now - one.at <= lagMs ? one.runs : []));
  const users = new Set(usersOf([...runs, ...recent]));
  return users.size > 1 && orders.every(({ madeAt }) => now - madeAt <= lagMs);
}

function judgeWords(scene: Scene, { run, outcome }: JudgedRun): Finding[] {
  const { after, before, atEnd, runs } = scene;
  const { code, text, placed, counted, isNothingNew, isDenied } = outcome;
  const finding = (hidden: string, what: string): Finding[] => [
    { rule: 'untrue', hidden, what: `${what}: ${text}` },
  ];
  const isCut = runs.some(({ run: { kill } }) => kill && 'effect' in kill && kill.isPowerCut);
  const isFull = run.kill !== undefined && 'isDiskFull' in run.kill && run.kill.isDiskFull === true;
  // A program that does not catch what the library throws ends with it.
  const saysFull = isFull && /disk is full|ENOSPC/.test(text);
  if (code === null && (!run.kill || isFull) && !isCut && !saysFull) return finding('?', 'crashed');
  if (code === 1 && !saysFull) return finding('?', 'failed in a way that nobody planned');
  const isAlone = runs.length === 1;
  const made = atEnd.filter(({ id }) => !before.some((order) => order.id === id));
  if (isAlone && isDenied && made.length > 0)
    return finding('?', 'says that nothing was ordered, and it was');
  // The order that a command finds may be of its own request, which something between has sent twice.
  if (isAlone && isNothingNew && made.length > 0 && !run.faults.includes('twice'))
    return finding('?', 'says that nothing new was ordered, and it was');
  const added = after.filter(({ id }) => !before.some((order) => order.id === id)).length;
  // The count comes before the rows are sent: a row counts as new if another machine ordered it and no list shows that yet.
  const unseen = before.filter((order) => isUnlisted(scene, order)).length;
  const { added: counting, inDoubt = 0 } = counted ?? {};
  if (isAlone && counting !== undefined && (counting + inDoubt < added || counting > added + unseen))
    return finding('?', `counts ${counting} as new, and ${added} orders are`);
  return placed.flatMap(({ orderId, hidden }) => {
    const order = after.find(({ id }) => id === orderId) ?? atEnd.find(({ id }) => id === orderId);
    if (!order) return finding(hidden, `says that ${orderId} is its order, and the service has none`);
    if (order.hidden !== hidden)
      return finding(hidden, `says that ${orderId} is its order, which is of ${order.hidden}`);
    return atEnd.find(({ id }) => id === orderId)?.isLive === false && order.status !== 'order_failed'
      ? finding(hidden, `says that ${orderId} is placed, which is ${order.status}`)
      : [];
  });
}

/** Once faults have stopped and each need's command ran three more times. */
export function judgeEnd(
  history: History,
  orders: readonly TrueOrder[],
  past: readonly Judged[],
  lastWords: ReadonlyMap<number, string>,
): Finding[] {
  const { needs, machines, habits, isShared } = history;
  return needs.flatMap(({ hidden, slug, door }, at): Finding[] => {
    const own = orders.filter((order) => order.hidden === hidden);
    const live = own.filter(({ isLive }) => isLive).length;
    if (slug === 'test-out-of-stock') return [];
    const isElsewhere = past.some((one) => one.kind === 'elsewhere' && one.hidden === hidden);
    const runs = past.flatMap((one) => (one.kind === 'runs' ? one.runs : []));
    const ofNeed = runs.filter(({ run }) => run.needs.includes(at));
    const isMeant = ofNeed.some(({ run }) => run.isMeant);
    const usersOf = new Set(ofNeed.map(({ run }) => machines[run.machine]?.user));
    const isApart = habits.keysOf === 'user' && usersOf.size > 1 && !isShared;
    if (live === 1 || (live === 0 && own.some((order) => isWithdrawn(order, door)))) return [];
    if (live > 1 && (isElsewhere || isMeant || isApart)) return [];
    const last = ofNeed.at(-1)?.outcome;
    // What is live then may have failed since.
    const then = past.findLast(
      (one) => one.kind === 'runs' && one.runs.some(({ run }) => run.needs.includes(at)),
    );
    const held = then?.kind === 'runs' ? then.before : orders;
    const words = lastWords.get(at) ?? last?.text;
    // A repeat that the policy would refuse, too, does not say how to order another.
    const isRefused = last?.code === policyCode || last?.text.includes('"policy_outcome":"refused"');
    if (live === 0 && isTakenElsewhere(history, at)) return [];
    // Without its id, nothing tells a row's order from another's, and the retry says that it does not know.
    const isUnnamed =
      habits.hidesExisting && ofNeed.some(({ outcome }) => outcome.text.includes('rows_unnamed'));
    if (live === 0 && isUnnamed) return [];
    if (live === 0 && isRefused && [held, orders].some((of) => isSpent(history, of, past, door))) return [];
    return [{ rule: 'unmet', hidden, what: `${live} live orders in the end; the last words: ${words}` }];
  });
}

/**
 * Whether another account has the same reference at a service whose keys are unique among everyone. The key of the
 * reference is then the other account's, and only another namespace gets a key of its own.
 */
function isTakenElsewhere({ habits, needs }: History, at: number): boolean {
  const of = needs[at];
  if (habits.keysOf !== 'everyone' || of?.reference === undefined) return false;
  const isSame = (one: Need): boolean => one.reference === of.reference && one.namespace === of.namespace;
  return needs.some((one) => one.organisation !== of.organisation && isSame(one));
}

const policyCode = 11;

/** Whether a policy may refuse one more order. */
function isSpent(
  history: History,
  orders: readonly TrueOrder[],
  past: readonly Judged[],
  door: Need['door'],
): boolean {
  const { maxCents } = history;
  if (maxCents === undefined) return false;
  // A retry by v1 does not say what it costs, and one of an upload may be for several needs.
  if (door === 'legacy' || door === 'retry') return true;
  const runs = past.flatMap((one) => (one.kind === 'runs' ? one.runs : []));
  // A service that does not say which order exists leaves it in doubt, or a row of a batch that something between has
  // sent twice, and its money reserved.
  const isTwice = ({ run }: JudgedRun) => fileDoors.has(run.door) && run.faults.includes('twice');
  if (history.habits.hidesExisting && runs.some((one) => isTwice(one) || one.outcome.settling.length > 0))
    return true;
  // What was given up may have been bought.
  const isGivenUp = ({ outcome: { forgetting = [], text } }: JudgedRun) =>
    forgetting.length > 0 || text.includes('duplicate_unknown');
  if (runs.some(isGivenUp)) return true;
  return spentBy(history, orders, past, liveDoors.has(door), true) + plainCeiling + feeCents > maxCents;
}
