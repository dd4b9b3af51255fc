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
 * Where the orders of a run belong, as far as it is stored: the accounts of all keys that are known to be of the same
 * user. Sends nothing. @param operation that places them.
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
 * Where the orders of a run belong. Where several keys have ordered, asks the service whose each key is, until that is
 * known. A key without an order may be of the same user.
 * @throws ErrandError if that cannot be read; nothing may be sent then.
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
    // An order that the service shows to this key tells whose the other key was.
    const order = id === undefined ? undefined : await unlessMissing(readOrder(client, id));
    const found = textOf(own(order, 'user_id'));
    if (found !== undefined) await attempts.identify({ ...scope, accounts: [other.account] }, found);
  }
  if (undecided.length === 0) await attempts.identify(scope, userId);
  const known = await attempts.accounts(scope);
  const same = known.filter((one) => one.userId === userId || undecided.includes(one.account));
  return scopeWith(scope, same, known);
}

/** Maximum number of other keys to determine the user of. */
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

/** The user of the key in use; undefined if the service does not tell this key. @throws ErrandError unavailable. */
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

/** The journal's record of an attempt. A retry by v1 may have gone to another address. */
export function recordOf(
  journal: Journal,
  { settings: { baseUrl, legacyBaseUrl } }: Pick<OrderContext, 'settings'>,
  { key }: Pick<Attempt, 'key'>,
): JournalRecord | undefined {
  return journal.find(key, baseUrl.value) ?? journal.find(key, legacyBaseUrl.value);
}

/**
 * When an attempt was made, by the service's clock, ms since the epoch. What the service has not confirmed was recorded
 * with this machine's time, which may be wrong.
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
