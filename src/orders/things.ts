import { type OperationName, operations } from '../api/operations/index.ts';

/** What an operation makes, in words and commands. */
export interface Thing {
  readonly one: string;
  readonly many: string;
  /** `was placed` */
  readonly made: string;
  /** What errors call its id. */
  readonly id: string;
  readonly get: string;
  readonly list: string;
}

const order: Thing = {
  one: 'order',
  many: 'orders',
  made: 'placed',
  id: 'order_id',
  get: 'errand order get',
  list: 'errand order list',
};

const things: Readonly<Record<string, Thing>> = {
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

/** Every other operation of the journal makes an order. */
export const thingOf = (operation: string): Thing =>
  (Object.hasOwn(things, operation) ? things[operation] : undefined) ?? order;

export const makesOrder = (operation: string): boolean => thingOf(operation) === order;

/** Whether the request of an operation carries the key of its intent. */
export const isKeyed = (operation: string): boolean =>
  operations[operation as OperationName].retry === 'idempotency_key';
