import { operations } from '../../api/operations/index.ts';
import type { Scenario } from '../../api/scenario/scenario.ts';
import { claim, claimOf } from '../keys/claims.ts';
import { hashKey } from '../server/caller.ts';
import { enter } from '../wallet/wallet.ts';
import { type Ordered, orderMoments, returnMoments } from './lives.ts';
import { type Moment, type Present, refusedAt, timeOf } from './moment.ts';
import { keyOf, post, type Stage } from './stage.ts';

/** All that is done to the sandbox up to its beginning, the first first; what falls together in the order of the file. */
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
    accountMoments(row, index, present, beginningOf(later, present.now)),
  );
  return [...accounts, ...later].toSorted((one, other) => one.at - other.at);
}

/** When the first of some moments is; `now` where there is none. */
export const beginningOf = (moments: readonly Moment[], now: number): number =>
  moments.reduce((first, { at }) => Math.min(first, at), now);

/** The key of an order, by which its returns are requested, and when it was created. */
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
    ...row.funded.map(({ at, amount }, place): Moment => {
      const time = timeOf(at, now);
      const path = ['keys', index, 'funded', place];
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
