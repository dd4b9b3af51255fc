import { own } from '../../api/json.ts';
import type { Client } from '../../http/client.ts';
import { unlessMissing } from '../../http/response.ts';
import type { Attempt, AttemptScope, Attempts, StoredAccount } from '../../journal/attempts.ts';
import type { Journal } from '../../journal/journal.ts';
import { type JournalRecord, paidAccount } from '../../journal/journal-record.ts';
import { isOthers } from '../../journal/take-over.ts';
import { ErrandError, stopOf } from '../../platform/errors.ts';
import type { OrderContext } from '../../run/order-context.ts';
import { readOrder } from '../submit/existing.ts';
import { isPaid } from '../submit/intent.ts';

type ScopeContext = Pick<OrderContext, 'settings' | 'sender' | 'isRehearsal'>;

/**
 * Scope of a run's orders, from stored facts alone. Includes the accounts of all keys that are known to belong to the
 * same user. Sends nothing.
 * @param operation is the operation that places the orders.
 */
export async function knownScopeOf(
  context: ScopeContext,
  attempts: Attempts,
  operation = 'order.create',
): Promise<AttemptScope> {
  const scope = await scopeAlone(context, operation);
  return isPaid(operation) ? scope : withSameUser(scope, await attempts.accounts(scope));
}

/**
 * Scope of a run's orders. If several keys have ordered, asks the service which user each key belongs to, unless that
 * is already known. Includes keys of which no order is known, because such a key may belong to the same user.
 * @throws ErrandError if this cannot be read; nothing may be sent then.
 */
export async function scopeOf(
  context: ScopeContext & Pick<OrderContext, 'client'>,
  attempts: Attempts,
  operation = 'order.create',
): Promise<AttemptScope> {
  const scope = await scopeAlone(context, operation);
  if (isPaid(operation)) return scope;
  const stored = await attempts.accounts(scope);
  const [account] = scope.accounts;
  const others = stored.filter((one) => one.account !== account && one.account !== paidAccount);
  if (others.length === 0 || stored.some((one) => one.account === account && one.userId !== undefined))
    return withSameUser(scope, stored);
  const client = await context.client();
  const userId = await userOf(client);
  if (userId === undefined) return withSameUser(scope, stored);
  const undecided: string[] = [];
  for (const other of others.filter((one) => one.userId === undefined).slice(-maxIdentified)) {
    const id = await attempts.newestOrder(other);
    if (id === undefined) undecided.push(other.account);
    // If this key may read an order that was placed with the other key, the order shows which user the other key
    // belongs to.
    const order = id === undefined ? undefined : await unlessMissing(readOrder(client, id));
    const found = textOf(own(order, 'user_id'));
    if (found !== undefined) await attempts.identify({ ...scope, accounts: [other.account] }, found);
  }
  if (undecided.length === 0) await attempts.identify(scope, userId);
  const known = await attempts.accounts(scope);
  const same = known.filter((one) => one.userId === userId || undecided.includes(one.account));
  return scopeWith(scope, same, known);
}

/** Maximum number of other keys for which the user is determined. */
const maxIdentified = 10;

async function scopeAlone(context: ScopeContext, operation: string): Promise<AttemptScope> {
  const account = isPaid(operation) ? paidAccount : (await context.sender()).account;
  return {
    service: context.settings.baseUrl.value,
    accounts: [account],
    isTest: !isPaid(operation) && context.isRehearsal(),
  };
}

function withSameUser(scope: AttemptScope, stored: readonly StoredAccount[]): AttemptScope {
  const [account] = scope.accounts;
  const userId = stored.find((one) => one.account === account)?.userId;
  const same = stored.filter((one) => one.userId === userId && userId !== undefined);
  return scopeWith(scope, same, stored);
}

function scopeWith(
  scope: AttemptScope,
  same: readonly StoredAccount[],
  stored: readonly StoredAccount[],
): AttemptScope {
  const [account] = scope.accounts;
  const others = same.map((one) => one.account).filter((one) => one !== account);
  return { ...scope, accounts: [account, ...others], newestAccount: stored.at(-1)?.id ?? 0 };
}

/** The user of the key in use; undefined if the service refuses to say. @throws ErrandError unavailable. */
async function userOf(client: Client): Promise<string | undefined> {
  try {
    const { body } = await client.call('wallet.get', {});
    return textOf(own(body, 'user_id'));
  } catch (error) {
    if (!(error instanceof ErrandError) || stopOf(error)) throw error;
    if (isRefused(error)) return undefined;
    throw new ErrandError(
      'unavailable',
      `several keys have ordered here, and whose this one is cannot be read (${error.message}); nothing was sent`,
      {
        ...error.facts,
        outcome: 'not_sent',
        hint: 'Run the same command again once the wallet can be read.',
        cause: error,
      },
    );
  }
}

const isRefused = ({ category }: ErrandError): boolean =>
  category === 'authentication' || category === 'not_found' || category === 'usage';

const textOf = (id: unknown): string | undefined =>
  typeof id === 'number' || (typeof id === 'string' && id !== '') ? String(id) : undefined;

/** The journal's record of an attempt. A retry through v1 may have been sent to the legacy address. */
export function recordOf(
  journal: Journal,
  { settings: { baseUrl, legacyBaseUrl } }: Pick<OrderContext, 'settings'>,
  { key }: Pick<Attempt, 'key'>,
): JournalRecord | undefined {
  return journal.find(key, baseUrl.value) ?? journal.find(key, legacyBaseUrl.value);
}

/**
 * When an attempt was made, by the service's clock, in ms since the epoch. If the service has not confirmed the
 * attempt, this machine's clock recorded the time. That clock may be wrong, so the time is converted.
 */
export function sentAt(
  journal: Journal,
  context: Pick<OrderContext, 'settings' | 'clock' | 'serviceClock'>,
  attempt: Pick<Attempt, 'key' | 'upload' | 'orderId' | 'madeAt'>,
): number {
  const { key, upload = key, orderId, madeAt } = attempt;
  const record = orderId === undefined ? recordOf(journal, context, { key: upload }) : undefined;
  if (!record || record.order_id !== null || isOthers(record)) return madeAt;
  const age = context.clock.now() - Date.parse(record.created_at);
  return Number.isNaN(age) ? madeAt : context.serviceClock.now() - age;
}
