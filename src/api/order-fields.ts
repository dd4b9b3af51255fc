import { limits } from './limits.ts';

/** A field of an order that is one plain value: a caller sends it, the service stores it, and every response shows it. */
export interface PlainOrderField {
  readonly type: 'string' | 'integer' | 'boolean';
  /** What a person calls it. */
  readonly title: string;
  readonly min?: number;
  /** Characters. */
  readonly maxLength?: number;
  readonly observed?: true;
  /** Whether a bulk upload has a column of its name, and the other headings that mean it. */
  readonly bulkColumn: readonly string[] | false;
}

/**
 * The plain fields of an order, in the order of the request. The shapes of request and response, the columns of a bulk
 * upload and what the sandbox shows are read off these rows.
 */
export const plainOrderFields = {
  retailer_credentials_id: { type: 'string', title: 'Account', bulkColumn: ['account'] },
  po_number: { type: 'string', title: 'PO number', bulkColumn: ['po'] },
  is_gift: { type: 'boolean', title: 'Gift', bulkColumn: [] },
  gift_message: {
    type: 'string',
    title: 'Gift message',
    maxLength: limits.giftMessageLength.max,
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
/** Plain fields that a bulk upload has a column for. */
export type PlainBulkColumn = {
  [K in PlainFieldName]: Table[K]['bulkColumn'] extends readonly string[] ? K : never;
}[PlainFieldName];

interface Values {
  string: string;
  integer: number;
  boolean: boolean;
}
/** The plain fields as a caller may send them. */
export type PlainInput = { readonly [K in PlainFieldName]?: Values[Table[K]['type']] | null | undefined };
/** The plain fields as a response shows them: null, or false, where none was sent. */
export type PlainOutput = {
  [K in PlainFieldName]: Table[K]['type'] extends 'boolean' ? boolean : Values[Table[K]['type']] | null;
};

// The keys of an object that was written out are its own.
const names = Object.keys(plainOrderFields) as PlainFieldName[];
export const eachPlainField: readonly (readonly [PlainFieldName, PlainOrderField])[] = names.map((name) => [
  name,
  plainOrderFields[name],
]);

export const hasBulkColumn = (name: PlainFieldName): name is PlainBulkColumn =>
  plainOrderFields[name].bulkColumn !== false;

/** What a response shows where the field was not sent. */
export const plainDefault = ({ type }: PlainOrderField): false | null => (type === 'boolean' ? false : null);

/** The plain fields of an order as its response shows them. */
export const plainOutput = (order: PlainInput): PlainOutput =>
  // One entry for each row, of its type: the compiler sees a list of entries only.
  Object.fromEntries(
    eachPlainField.map(([name, field]) => [name, order[name] ?? plainDefault(field)]),
  ) as PlainOutput;
