import { triggerPath } from '../../contract/control.ts';
import type { Scenario } from '../../contract/scenario.ts';
import { parseDuration } from '../../wait/duration.ts';
import { hashKey } from '../http/caller.ts';
import { claim, claimOf } from '../keys/claims.ts';
import { findOrder } from '../orders/records.ts';
import { findReturn } from '../returns/records.ts';
import { enter } from '../wallet/wallet.ts';
import { type Course, orderCourse, returnCourse } from './course.ts';
import type { ScenarioProblem } from './problem.ts';
import { itemsOf, keyOf, post, type Stage } from './stage.ts';

/** Something that is done to the sandbox at a time, ms since the epoch. */
export interface Moment {
  readonly at: number;
  readonly path: ScenarioProblem['path'];
  readonly run: (stage: Stage) => Promise<ScenarioProblem[]> | ScenarioProblem[];
}

/** The longest that anything lies before the beginning, days. */
const mostDays = 100_000;

/** A time of the scenario, ms since the epoch. */
export const timeOf = (written: string, now: number): number =>
  written.startsWith('-') ? now - parseDuration(written.slice(1), 'a time', mostDays) : Date.parse(written);

interface Present {
  readonly now: number;
  readonly speed: number;
}

/** All that is done to the sandbox up to its beginning, the first first; what falls together in the order of the file. */
export function momentsOf(scenario: Scenario, present: Present): Moment[] {
  const orders = scenario.orders.flatMap((row, index) => orderMoments(row, index, present));
  const returns = scenario.returns.flatMap((row, index) =>
    returnMoments(row, index, present, ownerOf(scenario, row.order)),
  );
  const batches = scenario.batches.map((row, index) => batchMoment(row, index, present));
  const funded = scenario.keys.flatMap((row, index) => moneyMoments(row, index, present));
  const later = [...funded, ...orders, ...batches, ...returns];
  const accounts = scenario.accounts.flatMap((row, index) =>
    accountMoments(row, index, present, beginningOf(later, present.now)),
  );
  return [...accounts, ...later].toSorted((one, other) => one.at - other.at);
}

/** When the first of some moments is; `now` where there is none. */
export const beginningOf = (moments: readonly Moment[], now: number): number =>
  moments.reduce((first, { at }) => Math.min(first, at), now);

/** The key of an order, by which its returns are requested. */
const ownerOf = ({ orders }: Scenario, order: string): string | undefined =>
  orders.find(({ name, id }) => name === order || id === order)?.key;

function moneyMoments(row: Scenario['keys'][number], index: number, { now }: Present): Moment[] {
  const { claimed } = row;
  return [
    ...row.funded.map(({ at, amount }, place): Moment => {
      const time = timeOf(at, now);
      return {
        at: time,
        path: ['keys', index, 'funded', place],
        run: async (stage) => {
          const { store } = stage.service;
          const { userId } = keyOf(stage, row.name);
          await store.transaction(() => enter(store, userId, 'funding', amount, time, null));
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
  beginning: number,
): Moment[] {
  const { name, key, id, short_id: shortId, forwarding_email: forwarding, created, updated, ...rest } = row;
  const { forwarded, ...body } = rest;
  const path = ['accounts', index];
  const at = created === undefined ? beginning : timeOf(created, now);
  return [
    {
      at,
      path,
      run: async (stage) => {
        const { store, identity } = stage.service;
        if (id !== undefined) identity.spell('account', id);
        const refused = await post(stage, { target: '/managed-accounts', body, key, name, path });
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

function orderMoments(row: Scenario['orders'][number], index: number, present: Present): Moment[] {
  const { now } = present;
  const path = ['orders', index];
  const written = row.created === undefined ? undefined : timeOf(row.created, now);
  const isTold = row.events.length > 0;
  const course: Course<string> = orderCourse(
    {
      created: written,
      speed: row.speed,
      // What was done to it says itself how it came there.
      state: isTold ? undefined : row.state,
      errorType: row.error_type,
    },
    now,
    present.speed,
  );
  const events = isTold
    ? row.events.map(({ at, event, error_type: errorType }) => ({ at: timeOf(at, now), event, errorType }))
    : course.events;
  const named = { id: undefined as string | undefined };
  return [
    {
      at: course.created,
      path,
      run: async (stage) => {
        stage.setSpeed(course.speed);
        if (row.id !== undefined) stage.service.identity.spell('order', row.id);
        const own = row.name ?? `order ${index}`;
        const refused = await post(stage, {
          target: '/orders',
          body: withAccount(row.order, stage),
          key: row.key,
          name: own,
          path: [...path, 'order'],
        });
        if (refused.length === 0) named.id = stage.names.idOf(own);
        return refused;
      },
    },
    ...events.map(({ at, event, errorType }, place): Moment => {
      const where = isTold ? [...path, 'events', place] : [...path, 'state'];
      return {
        at,
        path: where,
        run: (stage) => {
          const { id } = named;
          // It was refused, and that was told.
          if (id === undefined) return [];
          stage.setSpeed(course.speed);
          if (!isTold && errorType === undefined && leadsTo(stage, id, event)) return [];
          return act(stage, { id, event, errorType, key: row.key, path: where });
        },
      };
    }),
  ];
}

/** The account that an order names, by the short id that it got. */
function withAccount(order: Scenario['orders'][number]['order'], { names }: Stage): unknown {
  const id = order.retailer_credentials_id;
  return id == null ? order : { ...order, retailer_credentials_id: names.idOf(id) };
}

/** Whether an order comes by itself to what would be done to it. */
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
    return post(stage, { target: `/orders/${id}/cancel`, body: undefined, key, path });
  const body = { event, id, ...(errorType !== undefined && { error_type: errorType }) };
  return post(stage, { target: triggerPath, body, key, path });
}

function returnMoments(
  row: Scenario['returns'][number],
  index: number,
  present: Present,
  key: string | undefined,
): Moment[] {
  const { now } = present;
  const path = ['returns', index];
  const written = row.created === undefined ? undefined : timeOf(row.created, now);
  const isTold = row.events.length > 0;
  const state = isTold ? undefined : row.state;
  const course: Course<string> = returnCourse(
    { created: written, speed: row.speed, state },
    now,
    present.speed,
  );
  const events = isTold ? row.events.map(({ at, event }) => ({ at: timeOf(at, now), event })) : course.events;
  const named = { id: undefined as string | undefined };
  return [
    {
      at: course.created,
      path,
      run: async (stage) => {
        const { names, service } = stage;
        stage.setSpeed(course.speed);
        if (row.id !== undefined) service.identity.spell('return', row.id);
        const orderId = names.idOf(row.order);
        const own = row.name ?? `return ${index}`;
        const { reason, notes } = row;
        const refused = await post(stage, {
          target: '/returns',
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
    ...events.map(({ at, event }, place): Moment => {
      const where = isTold ? [...path, 'events', place] : [...path, 'state'];
      return {
        at,
        path: where,
        run: (stage) => {
          const { id } = named;
          if (id === undefined) return [];
          const found = findReturn(stage.service.store, id, keyOf(stage, key).userId);
          if (!isTold && found?.record.status === event) return [];
          // It comes to it by itself in time.
          if (!isTold && found?.plan.some((change) => change.status === event && change.at <= now)) return [];
          stage.setSpeed(course.speed);
          return post(stage, {
            target: triggerPath,
            body: { event: `return-${event}`, id },
            key,
            path: where,
          });
        },
      };
    }),
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
      return post(stage, { target: '/orders/bulk', body, key, name, path });
    },
  };
}
