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

/** The operation of intents that are paid for by challenge. */
export const paidOperation = 'agent.order.create';

/**
 * Whether an operation is paid for by challenge. Orders from such an operation belong to no account, and no list shows
 * them.
 */
export const isPaid = (operation: string): boolean => operation === paidOperation;

/**
 * The sender of an order that is paid for by challenge. Such an order needs no API key. This machine's own key signs
 * the order's record.
 */
const paidSender = ({ settings: { folders } }: OrderContext): Sender => ({
  keyMasked: 'payment',
  account: paidAccount,
  mac: machineMac(folders.state),
});

/** The sender of an operation with the API key in use. */
export async function senderOf(context: OrderContext, operation: string): Promise<Sender> {
  if (isPaid(operation)) return paidSender(context);
  return context.sender(operation === 'legacy.retry' ? 'legacy' : 'current');
}

/** Builds the intent of an order that is paid for by challenge. The payment method is not known yet. */
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

/** The order that a record contains. @throws ErrandError if the record contains none. */
export const asOrder = (record: JournalRecord): Promise<Shape<'OrderCreate'>> =>
  held(record, 'OrderCreate', 'an order');

/** The batch that a record contains. @throws ErrandError if the record contains none. */
export const asBatch = (record: JournalRecord): Promise<Shape<'BulkUploadRequest'>> =>
  held(record, 'BulkUploadRequest', 'a batch');

/** The return that a record contains. @throws ErrandError if the record contains none. */
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
  /** Whether to create a new order, batch or return even if the same was placed before. */
  readonly isNew: boolean;
  /** The buyer's own name for the order. Excludes `isNew` and an idempotency key. */
  readonly reference?: Reference | undefined;
  /** Whether to order again if the earlier order was cancelled or returned. */
  readonly again?: boolean | undefined;
  /** Keys of the attempts that the user saw before agreeing to another order. */
  readonly agreed?: ReadonlySet<string> | undefined;
  /** The entry point. Defaults to `terminal` or `script`, depending on whether the user can be prompted. */
  readonly door?: Door | undefined;
  /** Whether the user wrote the request, with the command `api`. */
  readonly isByHand?: boolean | undefined;
}

/** Words for what an operation makes, and commands that show it. */
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

/** The labels for what an operation makes. If an operation has no labels of its own, those of an order are used. */
export const labelsOf = (operation: string): ResourceLabels =>
  (Object.hasOwn(labels, operation) ? labels[operation] : undefined) ?? order;

export const makesOrder = (operation: string): boolean => labelsOf(operation) === order;

/** Whether the request of an operation carries the idempotency key of its intent. */
export const isKeyed = (operation: string): boolean =>
  operations[operation as OperationName].retry === 'idempotency_key';
