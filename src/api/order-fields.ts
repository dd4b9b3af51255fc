import { own } from './json.ts';
import { limits } from './limits.ts';

/**
 * An order field with a single plain value. The caller sends it, the service stores it, and every response returns it.
 */
export interface PlainOrderField {
  readonly type: 'string' | 'integer' | 'boolean';
  /** Name of the field for display. */
  readonly title: string;
  readonly min?: number;
  /** Maximum length in characters. */
  readonly maxLength?: number;
  readonly observed?: true;
  /** Another field that must be sent together with this one. If the other field is a boolean, it must be true. */
  readonly requires?: string;
  /** Alternative headings for the bulk column; false if the field has no bulk column. */
  readonly bulkColumn: readonly string[] | false;
}

/**
 * Plain order fields, in the order of requests. The shapes of requests and responses, the bulk columns and the
 * sandbox's output are derived from these rows.
 */
export const plainOrderFields = {
  retailer_credentials_id: { type: 'string', title: 'Account', bulkColumn: ['account'] },
  po_number: { type: 'string', title: 'PO number', bulkColumn: ['po'] },
  is_gift: { type: 'boolean', title: 'Gift', bulkColumn: [] },
  gift_message: {
    type: 'string',
    title: 'Gift message',
    maxLength: limits.giftMessageLength.max,
    requires: 'is_gift',
    bulkColumn: [],
  },
  handling_days_max: {
    type: 'integer',
    title: 'Handling days at most',
    min: 0,
    observed: true,
    bulkColumn: false,
  },
} as const satisfies Readonly<Record<string, PlainOrderField>>;

type Table = typeof plainOrderFields;
export type PlainFieldName = keyof Table;
/** Plain fields for which a bulk upload has a column. */
export type PlainBulkColumn = {
  [K in PlainFieldName]: Table[K]['bulkColumn'] extends readonly string[] ? K : never;
}[PlainFieldName];

/**
 * Whether an order record names an account at the retailer. If there is none, services send null, "" or no field at
 * all.
 */
export function namesAccount(order: unknown): boolean {
  const id = own(order, 'retailer_credentials_id');
  return id != null && id !== '';
}

interface Values {
  string: string;
  integer: number;
  boolean: boolean;
}
/** The plain fields as a caller may send them. */
export type PlainInput = { readonly [K in PlainFieldName]?: Values[Table[K]['type']] | null | undefined };
/** Plain fields as a response returns them. A field that was not sent is null; a boolean is false. */
export type PlainOutput = {
  [K in PlainFieldName]: Table[K]['type'] extends 'boolean' ? boolean : Values[Table[K]['type']] | null;
};

// The cast is safe, because an object literal has no keys beyond its type.
const names = Object.keys(plainOrderFields) as PlainFieldName[];
/** All plain fields in table order. A row whose `requires` names an unknown field fails to compile here. */
export const eachPlainField: readonly (readonly [
  PlainFieldName,
  PlainOrderField & { readonly requires?: PlainFieldName },
])[] = names.map((name) => [name, plainOrderFields[name]]);

/** The few fields that require another one. They are looked at for each row of a file. */
const requiring = eachPlainField.flatMap(([name, { requires }]) =>
  requires === undefined ? [] : [{ name, requires }],
);

/** Fields sent without the field they require, each with a description of the problem. */
export const unmetRequirements = (order: PlainInput): { name: PlainFieldName; problem: string }[] =>
  requiring.flatMap(({ name, requires }) => {
    if (order[name] == null) return [];
    const isBoolean = plainOrderFields[requires].type === 'boolean';
    const isMet = isBoolean ? order[requires] === true : order[requires] != null;
    return isMet ? [] : [{ name, problem: `requires ${requires}${isBoolean ? ': true' : ''}` }];
  });

export const hasBulkColumn = (name: PlainFieldName): name is PlainBulkColumn =>
  plainOrderFields[name].bulkColumn !== false;

/** The value that a response returns for a field that was not sent. */
export const plainDefault = ({ type }: PlainOrderField): false | null => (type === 'boolean' ? false : null);

/** The plain fields of an order, as a response shows them. */
export const plainOutput = (order: PlainInput): PlainOutput =>
  // The entries have one field each, of the right type, but the compiler cannot infer that.
  Object.fromEntries(
    eachPlainField.map(([name, field]) => [name, order[name] ?? plainDefault(field)]),
  ) as PlainOutput;
