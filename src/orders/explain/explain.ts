import { objectsIn, own } from '../../api/json.ts';
import { limits, uuidPattern } from '../../api/limits.ts';
import type { ShownState } from '../../api/order-state.ts';
import type { Client } from '../../http/client.ts';
import { unlessMissing } from '../../http/response.ts';
import type { JournalRecord } from '../../journal/journal-record.ts';
import { journalExists } from '../../journal/journal-tables.ts';
import { ErrandError, StorageError, UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { whereFlags } from '../../run/context-flags.ts';
import { observeOrder } from '../observed.ts';
import { stateOfOrder } from '../order-record.ts';
import { labelsOf } from '../submit/intent.ts';
import { type LocalPart, localPart, partOfIntent } from './local.ts';
import { type Story, storyOf } from './story.ts';

/** A story. If the service has the order, also the order's display state. */
export interface Explained {
  readonly story: Story;
  readonly state?: ShownState;
}

/**
 * Returns the full story of an order. Finds the order by its id, or by the idempotency key of an intent on this machine
 * (or a prefix of the key). If this machine does not know the order, returns only what the service knows.
 * @throws ErrandError not_found if neither the service nor this machine knows the order; UsageError if the text names
 * something other than an order, or is neither an id nor a key.
 */
export async function explain(context: Context, given: string): Promise<Explained> {
  const id = given.trim();
  const intent = await intentOf(context, id);
  const isOrder = uuidPattern.test(id) && intent?.key !== id;
  if (isOrder) return explainOrder(context, id.toLowerCase());
  if (!intent) throw unknown(id);
  const { one, get } = labelsOf(intent.operation);
  if (one !== 'order')
    throw new UsageError(`${intent.key} is the key of a ${one}, not of an order`, next(get, intent));
  return intent.order_id === null ? explainIntent(context, intent) : explainOrder(context, intent.order_id);
}

async function explainIntent(context: Context, record: JournalRecord): Promise<Explained> {
  const local = await partOfIntent(context, record);
  const sources = { ...local, order: undefined, milestones: [], id: undefined, feeCents: undefined };
  return { story: storyOf({ ...sources, service: record.base_url, where: whereFlags(context) }) };
}

async function explainOrder(context: Context, id: string): Promise<Explained> {
  const client = await context.client();
  const path = { order_id: id };
  const [order, milestones] = await Promise.all([
    unlessMissing(client.call('order.get', { path }).then(({ body }) => body)),
    unlessMissing(client.call('order.timeline', { path }).then(({ body }) => objectsIn(body, 'milestones'))),
  ]);
  if (order) await observeOrder(context, order);
  const local = await settled(context, await localPart(context, id, order), order);
  if (!order) checkIsOrder(id, local.record);
  if (!order && local.chain.length === 0) throw unknown(id);
  const isPaid = local.chain.some(({ kind }) => kind === 'paid');
  const feeCents = isPaid ? limits.agentOrderFeeCents : await feeNow(context, client);
  const service = context.settings.baseUrl.value;
  const story = storyOf({
    ...local,
    order,
    milestones: milestones ?? [],
    id,
    service,
    feeCents,
    where: whereFlags(context),
  });
  return order ? { story, state: stateOfOrder(order) } : { story };
}

/**
 * Settles the order's reservation according to the order that was just read. If this cannot be stored, the reservation
 * stays unchanged.
 */
async function settled(context: Context, local: LocalPart, order: unknown): Promise<LocalPart> {
  const { reservation } = local;
  if (reservation?.state !== 'held' || order === undefined || context.previewsRequests) return local;
  try {
    const { settleRead } = await import('../../spending/policy/settle.ts');
    return { ...local, reservation: await settleRead(context, reservation, order) };
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    return local;
  }
}

/**
 * The order fee that the wallet currently names; undefined if the wallet cannot be read, for example with a key for a
 * single order.
 */
async function feeNow(context: Context, client: Client): Promise<number | undefined> {
  try {
    const fee = own((await client.call('wallet.get', {})).body, 'order_fee_cents');
    return typeof fee === 'number' && Number.isSafeInteger(fee) && fee >= 0 ? fee : undefined;
  } catch (error) {
    if (!(error instanceof ErrandError) || context.signal.aborted) throw error;
    return undefined;
  }
}

/**
 * The journal record of a key. Undefined if there is none. Also undefined if the journal cannot be read but the text
 * may be the id of an order, because the service can still look up the id.
 */
async function intentOf(context: Context, key: string): Promise<JournalRecord | undefined> {
  const { baseUrl } = context.settings;
  if (key === '' || !journalExists(context.settings)) return undefined;
  try {
    const journal = await context.journal();
    return uuidPattern.test(key) ? journal.find(key, baseUrl.value) : journal.get(key, baseUrl.value);
  } catch (error) {
    if (!(error instanceof ErrandError) || error instanceof UsageError) throw error;
    if (error.category === 'not_found' || uuidPattern.test(key)) return undefined;
    throw error;
  }
}

/** @throws UsageError for the id of a batch or a return. */
function checkIsOrder(id: string, record: JournalRecord | undefined): void {
  const { one, get } = labelsOf(record?.operation ?? '');
  if (record && one !== 'order') throw new UsageError(`${id} is a ${one}, not an order`, next(get, record));
}

const next = (get: string, { order_id: id, operation }: JournalRecord) => ({
  next: id === null ? [] : [{ command: `${get} ${id}`, when: `to see the ${labelsOf(operation).one}` }],
});

const unknown = (id: string): ErrandError =>
  new ErrandError('not_found', `neither the service nor this machine knows an order or a key "${id}"`, {
    hint: 'Check the id, and that the key in use belongs to the account that ordered it.',
    next: [{ command: 'errand order list', when: 'to see the orders of this account' }],
  });
