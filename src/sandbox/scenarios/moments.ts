import { triggerPath } from '../../api/control.ts';
import { operations } from '../../api/operations/index.ts';
import type { Scenario } from '../../api/scenario/scenario.ts';
import { parseDuration } from '../../platform/duration.ts';
import { claim, claimOf } from '../keys/keys.ts';
import { findOrder } from '../orders/records.ts';
import { findReturn } from '../returns/records.ts';
import { hashKey } from '../server/caller.ts';
import { enter } from '../wallet/wallet.ts';
import { type Course, orderCourse, returnCourse } from './course.ts';
import type { ScenarioProblem } from './problem.ts';
import { itemsOf, keyOf, post, type Stage } from './stage.ts';

/**
 * All actions on the sandbox before the scenario begins, in chronological order. Actions at the same time stay in file
 * order.
 */
export function momentsOf(scenario: Scenario, present: Present): Moment[] {
  const lives = scenario.orders.map((row, index) => orderMoments(row, index, present));
  const orders = lives.flat();
  const returns = scenario.returns.flatMap((row, index) =>
    returnMoments(row, index, present, ordered(scenario, lives, row.order)),
  );
  const batches = scenario.batches.map((row, index) => batchMoment(row, index, present));
  const funded = scenario.keys.flatMap((row, index) => moneyMoments(row, index, present));
  const later = [...funded, ...orders, ...batches, ...returns];
  const accounts = scenario.accounts.flatMap((row, index) =>
    accountMoments(row, index, present, earliestOf(later, present.now)),
  );
  return [...accounts, ...later].toSorted((one, other) => one.at - other.at);
}

/** Time of the earliest moment; `now` if there are no moments. */
export const earliestOf = (moments: readonly Moment[], now: number): number =>
  moments.reduce((first, { at }) => Math.min(first, at), now);

/**
 * The creation time of an order, and the key to which the order belongs. Returns of the order are requested with this
 * key.
 */
function ordered({ orders }: Scenario, lives: readonly Moment[][], order: string): Ordered {
  const index = orders.findIndex(
    ({ name, id }) => name === order || id?.toLowerCase() === order.toLowerCase(),
  );
  return { key: orders[index]?.key, at: lives[index]?.[0]?.at };
}

function moneyMoments(row: Scenario['keys'][number], index: number, { now }: Present): Moment[] {
  const { claimed } = row;
  const created = row.created === undefined ? Number.NEGATIVE_INFINITY : timeOf(row.created, now);
  return [
    ...row.funded.map(({ at, amount }, position): Moment => {
      const time = timeOf(at, now);
      const path = ['keys', index, 'funded', position];
      if (time < created) return refusedAt(time, path, 'lies before its key was created');
      return {
        at: time,
        path,
        run: async (stage) => {
          const { store } = stage.service;
          const { userId } = keyOf(stage, row.name);
          await store.transaction(() =>
            enter(store, userId, amount < 0 ? 'withdrawal' : 'funding', amount, time, null),
          );
          return [];
        },
      };
    }),
    ...(claimed
      ? [
          {
            at: timeOf(claimed.at, now),
            path: ['keys', index, 'claimed'],
            run: async (stage: Stage) => {
              const { store } = stage.service;
              const { token } = claimOf(store, hashKey(keyOf(stage, row.name).apiKey));
              await claim(store, token, claimed.by, timeOf(claimed.at, now));
              return [];
            },
          },
        ]
      : []),
  ];
}

function accountMoments(
  row: Scenario['accounts'][number],
  index: number,
  { now }: Present,
  earliest: number,
): Moment[] {
  const { name, key, id, short_id: shortId, forwarding_email: forwarding, created, updated, ...rest } = row;
  const { forwarded, ...body } = rest;
  const path = ['accounts', index];
  const at = created === undefined ? earliest : timeOf(created, now);
  return [
    {
      at,
      path,
      run: async (stage) => {
        const { store, idGenerator } = stage.service;
        if (id !== undefined) idGenerator.spell('account', id);
        const refused = await post(stage, {
          target: operations['account.create'].path,
          body,
          key,
          name,
          path,
        });
        if (refused.length > 0) return refused;
        await store.transaction(() => {
          const { seq } = store.get('SELECT max(seq) AS seq FROM accounts') ?? {};
          const set = (column: string, value: string | number | undefined): void => {
            if (value === undefined) return;
            store.run(`UPDATE accounts SET ${column} = ? WHERE seq = ?`, value, Number(seq));
          };
          set('short_id', shortId);
          set('forwarding_email', forwarding);
          if (shortId !== undefined) stage.names.set(name, shortId);
        });
        return [];
      },
    },
    ...(forwarded === undefined && updated === undefined
      ? []
      : [
          {
            at: Math.max(at, timeOf(updated ?? forwarded ?? '', now)),
            path: [...path, 'forwarded'],
            run: async (stage: Stage) => {
              const { store } = stage.service;
              const sql =
                'UPDATE accounts SET forwarded_at = ?, updated_at = ? WHERE user_id = ? AND email = ? AND retailer IS ?';
              const since = forwarded === undefined ? null : timeOf(forwarded, now);
              const { userId } = keyOf(stage, key);
              await store.transaction(() =>
                store.run(
                  sql,
                  since,
                  timeOf(updated ?? forwarded ?? '', now),
                  userId,
                  row.email,
                  row.retailer ?? null,
                ),
              );
              return [];
            },
          },
        ]),
  ];
}

function batchMoment(row: Scenario['batches'][number], index: number, { now, speed }: Present): Moment {
  const { name, key, created, ...body } = row;
  const path = ['batches', index];
  return {
    at: created === undefined ? now : timeOf(created, now),
    path,
    run: (stage) => {
      stage.setSpeed(speed);
      return post(stage, { target: operations['bulk.create'].path, body, key, name, path });
    },
  };
}

function orderMoments(row: Scenario['orders'][number], index: number, present: Present): Moment[] {
  const { now } = present;
  const path = ['orders', index];
  const written = row.created === undefined ? undefined : timeOf(row.created, now);
  const isExplicit = row.events !== undefined;
  const course: Course<string> = orderCourse(
    {
      created: written,
      speed: row.speed,
      // If the events are explicit, no state is needed, because the events determine the state.
      state: isExplicit ? undefined : row.state,
      errorType: row.error_type,
    },
    now,
    present.speed,
  );
  const events = row.events
    ? row.events.map(({ at, event, error_type: errorType }) => ({ at: timeOf(at, now), event, errorType }))
    : course.events;
  const named = { id: undefined as string | undefined };
  return [
    {
      at: course.created,
      path,
      run: async (stage) => {
        stage.setSpeed(course.speed);
        if (row.id !== undefined) stage.service.idGenerator.spell('order', row.id);
        const own = row.name ?? `order ${index}`;
        const refused = await post(stage, {
          target: operations['order.create'].path,
          body: withAccount(row.order, stage),
          key: row.key,
          name: own,
          path: [...path, 'order'],
        });
        if (refused.length === 0) named.id = stage.names.idOf(own);
        return refused;
      },
    },
    ...eventMoments(
      { events, path, isExplicit, begins: course.created, early: 'lies before its order was created', named },
      (stage, id, { event, errorType }, where) => {
        stage.setSpeed(course.speed);
        if (!isExplicit && errorType === undefined && leadsTo(stage, id, event)) return [];
        return act(stage, { id, event, errorType, key: row.key, path: where });
      },
    ),
  ];
}

/** The order body with the account's name replaced by its short id. */
function withAccount(order: Scenario['orders'][number]['order'], { names }: Stage): unknown {
  const id = order.retailer_credentials_id;
  return id == null ? order : { ...order, retailer_credentials_id: names.idOf(id) };
}

/** Whether an order's plan already leads to the event. */
function leadsTo({ service: { store } }: Stage, id: string, event: string): boolean {
  const plan = findOrder(store, id, null)?.plan ?? [];
  const kinds: Readonly<Record<string, string>> = {
    failed: 'failed',
    'cancelled-by-retailer': 'cancelled_by_retailer',
  };
  const done = findOrder(store, id, null)?.record.status;
  if (event === 'failed' && done === 'order_failed') return true;
  return plan.some(({ kind }) => kind === kinds[event]);
}

interface Act {
  readonly id: string;
  readonly event: string;
  readonly errorType?: string | undefined;
  readonly key: string | undefined;
  readonly path: ScenarioProblem['path'];
}

function act(stage: Stage, { id, event, errorType, key, path }: Act): Promise<ScenarioProblem[]> {
  if (event === 'cancelled')
    return post(stage, {
      target: operations['order.cancel'].path.replace('{order_id}', id),
      body: undefined,
      key,
      path,
    });
  const body = { event, id, ...(errorType !== undefined && { error_type: errorType }) };
  return post(stage, { target: triggerPath, body, key, path });
}

/**
 * Key and creation time (ms) of the order that a return is for. Both are undefined if the scenario does not list the
 * order.
 */
interface Ordered {
  readonly key: string | undefined;
  readonly at: number | undefined;
}

function returnMoments(
  row: Scenario['returns'][number],
  index: number,
  present: Present,
  { key, at: orderedAt }: Ordered,
): Moment[] {
  const { now } = present;
  const path = ['returns', index];
  const written = row.created === undefined ? undefined : timeOf(row.created, now);
  const isExplicit = row.events !== undefined;
  const state = isExplicit ? undefined : row.state;
  const course: Course<string> = returnCourse(
    { created: written, speed: row.speed, state },
    now,
    present.speed,
  );
  if (orderedAt !== undefined && course.created < orderedAt) {
    const message =
      written === undefined
        ? 'begins before its order was created; create the order earlier, or say with created when it was requested'
        : 'lies before its order was created';
    return [refusedAt(course.created, written === undefined ? path : [...path, 'created'], message)];
  }
  const events = row.events
    ? row.events.map(({ at, event }) => ({ at: timeOf(at, now), event }))
    : course.events;
  const named = { id: undefined as string | undefined };
  return [
    {
      at: course.created,
      path,
      run: async (stage) => {
        const { names, service } = stage;
        stage.setSpeed(course.speed);
        if (row.id !== undefined) service.idGenerator.spell('return', row.id);
        const orderId = names.idOf(row.order);
        const own = row.name ?? `return ${index}`;
        const { reason, notes } = row;
        const refused = await post(stage, {
          target: operations['return.create'].path,
          body: {
            order_id: orderId,
            items: itemsOf(stage, orderId, row.items),
            reason,
            ...(notes !== undefined && { notes }),
          },
          key,
          name: own,
          path,
        });
        if (refused.length === 0) named.id = names.idOf(own);
        return refused;
      },
    },
    ...eventMoments(
      {
        events,
        path,
        isExplicit,
        begins: course.created,
        early: 'lies before its return was requested',
        named,
      },
      (stage, id, { event }, where) => {
        const found = findReturn(stage.service.store, id, keyOf(stage, key).userId);
        if (!isExplicit && found?.record.status === event) return [];
        // Nothing needs to be forced, because the return reaches this state by itself in time.
        if (!isExplicit && found?.plan.some((change) => change.status === event && change.at <= now))
          return [];
        stage.setSpeed(course.speed);
        return post(stage, { target: triggerPath, body: { event: `return-${event}`, id }, key, path: where });
      },
    ),
  ];
}

interface Happening {
  readonly at: number;
  readonly event: string;
  readonly errorType?: string | undefined;
}

interface Events {
  readonly events: readonly Happening[];
  /** Path, in the scenario, of the order or return that the events affect. */
  readonly path: ScenarioProblem['path'];
  /** Whether the scenario lists the events. Otherwise the events follow from a state in the scenario. */
  readonly isExplicit: boolean;
  /** Earliest allowed time of an event, in ms. */
  readonly begins: number;
  /** Error message for an event before the earliest allowed time. */
  readonly early: string;
  /** The order or return that the events affect. The id is undefined until the order or return is created. */
  readonly named: { readonly id: string | undefined };
}

/** Converts the events of an order or return to moments. */
function eventMoments(
  { events, path, isExplicit: isTold, begins, early, named }: Events,
  happen: (
    stage: Stage,
    id: string,
    event: Happening,
    path: ScenarioProblem['path'],
  ) => ReturnType<Moment['run']>,
): Moment[] {
  return events.map((event, position) => {
    const { at } = event;
    const where = isTold ? [...path, 'events', position] : [...path, 'state'];
    if (isTold && at < begins) return refusedAt(at, where, early);
    return {
      at,
      path: where,
      // If there is no id, creation was refused. The refusal was already reported, so do nothing.
      run: (stage) => (named.id === undefined ? [] : happen(stage, named.id, event, where)),
    };
  });
}

/** An action on the sandbox at a given time, in ms since the epoch. */
export interface Moment {
  readonly at: number;
  readonly path: ScenarioProblem['path'];
  readonly run: (stage: Stage) => Promise<ScenarioProblem[]> | ScenarioProblem[];
}

/** A time may lie at most this many days before the scenario begins. */
const maxDays = 100_000;

/** Parses a time of the scenario into ms since the epoch. */
export const timeOf = (written: string, now: number): number =>
  written.startsWith('-') ? now - parseDuration(written.slice(1), 'a time', maxDays) : Date.parse(written);

/** A moment that only reports an impossible event. The event is thus reported together with all other problems. */
const refusedAt = (at: number, path: Moment['path'], message: string): Moment => ({
  at,
  path,
  run: () => [{ path, message }],
});

interface Present {
  readonly now: number;
  readonly speed: number;
}
