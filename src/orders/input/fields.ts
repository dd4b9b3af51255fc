import { fulfillmentConcerns, paymentModes } from '../../api/enums.ts';
import { limits } from '../../api/limits.ts';
import { type PlainFieldName, type PlainOrderField, plainOrderFields } from '../../api/order-fields.ts';
import type { ShapeInput } from '../../api/schemas/index.ts';
import type { Context } from '../../run/context.ts';
import type { Input, Option, Options } from '../../run/option.ts';
import { flagOf } from '../../run/parse-option.ts';
import { parseProduct } from './product-flag.ts';
import * as convert from './values.ts';

/** Option values, by option name. */
type Flags<O extends Options> = Input<readonly [], O>;
type Value<O extends Option> = NonNullable<Flags<{ readonly value: O }>['value']>;

/** Context of a prompt. */
export interface Asking {
  /** Whether to offer a product search. A search needs the key of an account. */
  readonly searches: boolean;
  /** Price, in cents, of the ordered items without shipping and tax. */
  readonly price?: number | undefined;
  /** Number of units that the price covers. */
  readonly units?: number | undefined;
}

/** An answer to a prompt: as a value of the payload, and as the equivalent command line arguments. */
export interface Answer {
  readonly value: unknown;
  readonly words: readonly string[];
  readonly price?: number | undefined;
}

/** How to prompt for a missing field. */
interface Prompt {
  /** An example flag with a value, for the command to rerun. */
  readonly sample: string;
  prompt(context: Context, asking: Asking): Promise<Answer>;
}

export interface OrderField<O extends Options = Options> {
  readonly options: O;
  /** The flag that messages about the field name. */
  readonly flag: string;
  /** The value to send. Flags take precedence over the file. If undefined, the value from the file stays. */
  value(flags: Flags<O>, inFile: unknown): unknown;
  /** Set if every order needs the field. */
  readonly required?: Prompt;
}

const group = 'Details';

/** A field set by one option. */
const field = <const N extends string, const O extends Option>(
  name: N,
  option: O,
  more: { readonly convert?: (value: Value<O>) => unknown; readonly required?: Prompt } = {},
): OrderField<{ readonly [K in N]: O }> => ({
  // The cast is needed because the compiler widens a computed key to a string.
  options: { [name]: option } as { readonly [K in N]: O },
  flag: flagOf(name),
  value: (flags) => {
    const value = flags[name] as Value<O> | undefined;
    return value === undefined || more.convert === undefined ? value : more.convert(value);
  },
  ...(more.required && { required: more.required }),
});

/** Kinds of options for plain fields, by type. */
const plainKinds = { string: 'text', integer: 'integer', boolean: 'flag' } as const;
type PlainOption<K extends PlainFieldName> = Option & {
  readonly kind: (typeof plainKinds)[(typeof plainOrderFields)[K]['type']];
};

/** Builds a plain field. The contract determines the type and bounds of the field's option. */
const plain = <const K extends PlainFieldName, const N extends string>(
  key: K,
  name: N,
  shown: Pick<Option, 'description' | 'names'>,
): OrderField<{ readonly [_ in N]: PlainOption<K> }> => {
  const { type, min, maxLength }: PlainOrderField = plainOrderFields[key];
  const bounds = { ...(min !== undefined && { min }), ...(maxLength !== undefined && { maxLength }) };
  return field(name, { kind: plainKinds[type], ...bounds, group, ...shown } as PlainOption<K>);
};

/** Builds a field that several options set, or whose value is merged with that from the file. */
const joined = <const O extends Options>(
  flag: keyof O & string,
  options: O,
  value: (flags: Flags<O>, inFile: unknown) => unknown,
): OrderField<O> => ({ options, flag: flagOf(flag), value });

/**
 * The table of the order fields that a caller can set, by wire name. Options, payload, prompts and error messages are
 * all derived from this table and follow its order.
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
  /** This field has a group of options of its own: one option for each part of the address. */
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
  gift_message: plain('gift_message', 'giftMessage', { description: 'message to put in; makes it a gift' }),
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

export const orderFieldOptions: FieldOptions = Object.assign(
  {},
  ...Object.values(orderFields).map(({ options }) => options),
);

export type OrderFlags = Flags<FieldOptions>;

type OrderFieldName = keyof typeof orderFields;

// The cast is safe, because `Object.keys` of a literal returns the literal's own keys.
const names = Object.keys(orderFields) as OrderFieldName[];

/** All fields with their names, in table order. */
export const eachOrderField: readonly (readonly [OrderFieldName, OrderField])[] = names.map((name) => [
  name,
  orderFields[name],
]);
