import { fulfillmentConcerns, paymentModes } from '../../api/enums.ts';
import { limits } from '../../api/limits.ts';
import { type PlainFieldName, type PlainOrderField, plainOrderFields } from '../../api/order-fields.ts';
import type { ShapeInput } from '../../api/schemas/index.ts';
import type { Context } from '../../run/context.ts';
import type { Input, Option, Options } from '../../run/option.ts';
import { flagOf } from '../../run/parse-option.ts';
import { parseProduct } from './product-flag.ts';
import * as convert from './values.ts';

/** The values of options, by their names. */
type Flags<O extends Options> = Input<readonly [], O>;
type Value<O extends Option> = NonNullable<Flags<{ readonly value: O }>['value']>;

/** What is known where a prompt asks. */
export interface Asking {
  /** Whether a product may be searched for: a search is made with the key of an account. */
  readonly searches: boolean;
  /** Of the product that was picked, cents. */
  readonly price?: number | undefined;
}

/** What a person answered, as a value of the payload and as words of a command line that say the same. */
export interface Answer {
  readonly value: unknown;
  readonly words: readonly string[];
  readonly price?: number | undefined;
}

/** What a prompt asks for where nobody gave it. */
interface Prompt {
  /** The flag with a value to show, for the command to run again. */
  readonly sample: string;
  prompt(context: Context, asking: Asking): Promise<Answer>;
}

/** One field of an order. */
export interface OrderField<O extends Options = Options> {
  readonly options: O;
  /** The flag that a message about the field names. */
  readonly flag: string;
  /** The value to send: what the flags give, over what a file has; undefined where that stays as it is. */
  value(flags: Flags<O>, inFile: unknown): unknown;
  /** Set where no order can do without it. */
  readonly required?: Prompt;
}

const group = 'Details';

/** A field that one option gives. */
const field = <const N extends string, const O extends Option>(
  name: N,
  option: O,
  more: { readonly convert?: (value: Value<O>) => unknown; readonly required?: Prompt } = {},
): OrderField<{ readonly [K in N]: O }> => ({
  // One entry of that name: the compiler widens a computed key to a string.
  options: { [name]: option } as { readonly [K in N]: O },
  flag: flagOf(name),
  value: (flags) => {
    const value = flags[name] as Value<O> | undefined;
    return value === undefined || more.convert === undefined ? value : more.convert(value);
  },
  ...(more.required && { required: more.required }),
});

/** The options of plain fields, by their types. */
const plainKinds = { string: 'text', integer: 'integer', boolean: 'flag' } as const;
type PlainOption<K extends PlainFieldName> = Option & {
  readonly kind: (typeof plainKinds)[(typeof plainOrderFields)[K]['type']];
};

/** A plain field: its option takes what its row of the contract says. */
const plain = <const K extends PlainFieldName, const N extends string>(
  key: K,
  name: N,
  shown: Pick<Option, 'description' | 'names'>,
): OrderField<{ readonly [_ in N]: PlainOption<K> }> => {
  const { type, min, maxLength }: PlainOrderField = plainOrderFields[key];
  const bounds = { ...(min !== undefined && { min }), ...(maxLength !== undefined && { maxLength }) };
  return field(name, { kind: plainKinds[type], ...bounds, group, ...shown } as PlainOption<K>);
};

/** A field that several options give, or that adds to what a file has. */
const joined = <const O extends Options>(
  flag: keyof O & string,
  options: O,
  value: (flags: Flags<O>, inFile: unknown) => unknown,
): OrderField<O> => ({ options, flag: flagOf(flag), value });

/**
 * THE table of what a caller may say of an order, by its names on the wire. Options, payload, prompts and the naming of a
 * refused field are read off it, in this order.
 */
export const orderFields = {
  products: field(
    'product',
    {
      kind: 'texts',
      names: 'products',
      placeholder: 'url',
      description: 'product URL[,quantity=N][,variant=Label:Value][,condition=New]; repeats',
    },
    {
      convert: (texts) => texts.map(parseProduct),
      required: {
        sample: "--product 'https://…'",
        prompt: async (context, asking) => (await import('./prompts.ts')).promptProducts(context, asking),
      },
    },
  ),
  max_price: field(
    'maxPrice',
    {
      kind: 'money',
      isCeiling: true,
      description: "ceiling for the whole order: '$50' or 50.00; never exceeded",
    },
    {
      required: {
        sample: "--max-price '$50.00'",
        prompt: async (context, asking) => (await import('./prompts.ts')).promptCeiling(context, asking),
      },
    },
  ),
  /** Its options stand apart, in a group of their own: each gives a part of it. */
  shipping_address: {
    options: {},
    flag: '--ship-to',
    value: () => undefined,
    required: {
      sample: '--ship-to home',
      prompt: async (context: Context) => (await import('./prompts.ts')).promptAddress(context),
    },
  },
  idempotency_key: field('idempotencyKey', {
    kind: 'text',
    group,
    maxLength: limits.idempotencyKeyLength.max,
    description: 'key of this intent: the same key never makes a second order',
  }),
  retailer_credentials_id: plain('retailer_credentials_id', 'account', {
    names: 'accounts',
    description: 'managed account to order with',
  }),
  metadata: joined(
    'metadata',
    {
      metadata: {
        kind: 'pairs',
        group,
        description: 'your own data as text, repeated; `order list` can filter by it',
      },
      metadataJson: {
        kind: 'pairs',
        group,
        placeholder: 'key=json',
        description: "the same, typed: count=7, urgent=true, tags='[1,2]'",
      },
    },
    convert.metadata,
  ),
  po_number: plain('po_number', 'poNumber', { description: 'purchase order reference' }),
  is_gift: plain('is_gift', 'gift', { description: 'send as a gift' }),
  gift_message: plain('gift_message', 'giftMessage', { description: 'message to put in; needs --gift' }),
  handling_days_max: plain('handling_days_max', 'handlingDaysMax', {
    description: 'longest handling time, in days',
  }),
  customer_notifications: field(
    'notify',
    { kind: 'text', group, placeholder: 'email', description: 'tell the customer by email' },
    { convert: (email) => email && { email } },
  ),
  payment: joined(
    'paymentMode',
    {
      paymentMode: { kind: 'choice', values: paymentModes, group, description: 'how it is paid' },
      paymentMethod: { kind: 'text', group, description: 'card to charge, with --payment-mode card' },
      paymentCustomer: {
        kind: 'text',
        group,
        description: 'customer to charge, with --payment-mode connect',
      },
      margin: { kind: 'text', group, description: "margin to add: '$2.00' or 5%" },
    },
    convert.payment,
  ),
  fulfillment: joined(
    'bestEffort',
    {
      bestEffort: {
        kind: 'list',
        values: fulfillmentConcerns,
        group,
        description: 'relax these in place of failing',
      },
      excludeMerchant: { kind: 'texts', group, description: 'merchant not to buy from; repeats' },
    },
    convert.fulfillment,
  ),
  webhooks: joined(
    'webhook',
    {
      webhook: {
        kind: 'pairs',
        group,
        placeholder: 'event=url',
        description: 'address for an event; repeats',
      },
    },
    convert.webhooks,
  ),
} as const satisfies { readonly [K in keyof Required<ShapeInput<'OrderCreate'>>]: OrderField };

type Together<U> = (U extends unknown ? (part: U) => void : never) extends (all: infer A) => void ? A : never;
type FieldOptions = Together<(typeof orderFields)[keyof typeof orderFields]['options']>;

/** Every option of the table. */
export const orderFieldOptions: FieldOptions = Object.assign(
  {},
  ...Object.values(orderFields).map(({ options }) => options),
);

export type OrderFlags = Flags<FieldOptions>;

type OrderFieldName = keyof typeof orderFields;

// The keys of an object that was written out are its own.
const names = Object.keys(orderFields) as OrderFieldName[];

/** The fields of the table with their names, in their order. */
export const eachOrderField: readonly (readonly [OrderFieldName, OrderField])[] = names.map((name) => [
  name,
  orderFields[name],
]);
