import type { Operation } from '../../api/operation.ts';
import { type OperationName, operations } from '../../api/operations/index.ts';
import type { Shape } from '../../api/schemas/index.ts';
import type { Reference } from '../../journal/attempts.ts';
import {
  type Intent,
  type JournalRecord,
  type PaymentNote,
  paidAccount,
  type Sender,
} from '../../journal/journal-record.ts';
import { machineMac } from '../../journal/mac.ts';
import { ErrandError } from '../../platform/errors.ts';
import type { OrderContext } from '../../run/order-context.ts';
import type { Consent } from '../../spending/options.ts';
import type { Door } from '../needs/decide.ts';
import type { JournaledOperation, MadeRecord, OrderRecord } from '../order-record.ts';

type Given = Pick<Intent, 'key' | 'keyOrigin' | 'body'>;

/** An intent whose operation is known. The operation determines the type of the result. */
export type IntentOf<N extends JournaledOperation> = Intent & { readonly operation: N };

/** Builds the intent to journal, for the API key in use. */
export async function intentOf<N extends JournaledOperation>(
  context: OrderContext,
  operation: N,
  given: Given,
): Promise<IntentOf<N>> {
  const { surface }: Operation = operations[operation];
  const { profile, baseUrl, legacyBaseUrl } = context.settings;
  return {
    ...given,
    ...(await context.sender(surface)),
    operation,
    profile: profile.value,
    baseUrl: (surface === 'legacy' ? legacyBaseUrl : baseUrl).value,
  };
}

/** Operation of intents paid by challenge. */
export const paidOperation = 'agent.order.create';

/** Whether an operation is paid by challenge. Its orders belong to no account, and no list shows them. */
export const isPaid = (operation: string): boolean => operation === paidOperation;

/** Who sends an order paid by challenge, which needs no key. This machine's own key signs its record. */
const paidSender = ({ settings: { folders } }: OrderContext): Sender => ({
  keyMasked: 'payment',
  account: paidAccount,
  mac: machineMac(folders.state),
});

/** Who sends an operation with the API key in use. */
export async function senderOf(context: OrderContext, operation: string): Promise<Sender> {
  if (isPaid(operation)) return paidSender(context);
  return context.sender(operation === 'legacy.retry' ? 'legacy' : 'current');
}

/** Builds the intent of an order paid by challenge, before the payment method is known. */
export const paidIntent = (context: OrderContext, given: Given): IntentOf<typeof paidOperation> => ({
  ...given,
  operation: paidOperation,
  profile: context.settings.profile.value,
  baseUrl: context.settings.baseUrl.value,
  ...paidSender(context),
});

export const paidBy = (payment: PaymentNote): Pick<Intent, 'keyMasked' | 'payment'> => ({
  keyMasked: `payment by ${payment.method}`,
  payment,
});

/** The order stored in a record. @throws ErrandError if it holds none. */
export const asOrder = (record: JournalRecord): Promise<Shape<'OrderCreate'>> =>
  held(record, 'OrderCreate', 'an order');

/** The batch stored in a record. @throws ErrandError if it holds none. */
export const asBatch = (record: JournalRecord): Promise<Shape<'BulkUploadRequest'>> =>
  held(record, 'BulkUploadRequest', 'a batch');

/** The return stored in a record. @throws ErrandError if it holds none. */
export const asReturn = (record: JournalRecord): Promise<Shape<'ReturnRequestCreate'>> =>
  held(record, 'ReturnRequestCreate', 'a return');

async function held<N extends 'OrderCreate' | 'BulkUploadRequest' | 'ReturnRequestCreate'>(
  { key, body }: JournalRecord,
  name: N,
  what: string,
): Promise<Shape<N>> {
  const { checkShape } = await import('../../api/schemas/check.ts');
  const { value } = checkShape(name, body, 'body');
  if (value) return value;
  throw new ErrandError('unexpected', `the journal's record ${key} does not hold ${what}`);
}

export type Body = Shape<'OrderCreate'>;
export type KeyedBody = Body & { readonly idempotency_key: string };

/** Result of an intent: an order, a batch or a return. */
export interface Made<R = MadeRecord> {
  readonly order: R;
  /** Whether an earlier attempt had created the result. */
  readonly existed: boolean;
}

export type Placed = Made<OrderRecord>;

/** How to place something. */
export interface Placing extends Consent {
  /** Whether to create a new order, batch or return even if the same one was placed before. */
  readonly isNew: boolean;
  /** The buyer's own name for the order. Excludes `isNew` and an idempotency key. */
  readonly reference?: Reference | undefined;
  /** Whether to order again what was cancelled or returned. */
  readonly again?: boolean | undefined;
  /** Keys of the attempts that the user was shown before agreeing to another order. */
  readonly agreed?: ReadonlySet<string> | undefined;
  /** The entry point; by default a terminal or a script. */
  readonly door?: Door | undefined;
  /** Set for a request written by the user, with the command `api`. */
  readonly isByHand?: boolean | undefined;
}

/** Words and commands for what an operation makes. */
export interface ResourceLabels {
  readonly one: string;
  readonly many: string;
  /** As in `was placed`. */
  readonly made: string;
  /** Name of the resource's id in errors. */
  readonly id: string;
  readonly get: string;
  readonly list: string;
}

const order: ResourceLabels = {
  one: 'order',
  many: 'orders',
  made: 'placed',
  id: 'order_id',
  get: 'errand order get',
  list: 'errand order list',
};

const labels: Readonly<Record<string, ResourceLabels>> = {
  'bulk.create': {
    one: 'batch',
    many: 'batches',
    made: 'created',
    id: 'batch_id',
    get: 'errand bulk get',
    list: 'errand bulk list',
  },
  'return.create': {
    one: 'return',
    many: 'returns',
    made: 'requested',
    id: 'return_request_id',
    get: 'errand return get',
    list: 'errand return list',
  },
};

/** The labels for what an operation makes. An operation without its own labels gets those of an order. */
export const labelsOf = (operation: string): ResourceLabels =>
  (Object.hasOwn(labels, operation) ? labels[operation] : undefined) ?? order;

export const makesOrder = (operation: string): boolean => labelsOf(operation) === order;

/** Whether an operation's request carries its intent's idempotency key. */
export const isKeyed = (operation: string): boolean =>
  operations[operation as OperationName].retry === 'idempotency_key';
