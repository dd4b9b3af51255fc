/** What an operation makes, in words and commands. */
export interface Thing {
  readonly one: string;
  readonly many: string;
  /** `was placed` */
  readonly made: string;
  readonly get: string;
  readonly list: string;
}

const order: Thing = {
  one: 'order',
  many: 'orders',
  made: 'placed',
  get: 'errand order get',
  list: 'errand order list',
};

const things: Readonly<Record<string, Thing>> = {
  'bulk.create': {
    one: 'batch',
    many: 'batches',
    made: 'created',
    get: 'errand bulk get',
    list: 'errand bulk list',
  },
  'return.create': {
    one: 'return',
    many: 'returns',
    made: 'requested',
    get: 'errand return get',
    list: 'errand return list',
  },
};

/** Every other operation of the journal makes an order. */
export const thingOf = (operation: string): Thing =>
  (Object.hasOwn(things, operation) ? things[operation] : undefined) ?? order;
