import type { RecordKind } from '../format/result.ts';
import type { RecordSource } from './option.ts';

interface Kind {
  readonly one: string;
  readonly several: string;
  /** The command that lists records of this kind. */
  readonly list: string;
  /** Whether the ids are UUIDs. Ids in other formats are validated by the command itself. */
  readonly isUuid?: true;
  /** Local source of the ids. */
  readonly source?: RecordSource;
}

/** Names and properties of each record kind. */
export const kinds: Readonly<Record<RecordKind, Kind>> = {
  orders: { one: 'order', several: 'orders', list: 'errand order list', isUuid: true, source: 'orders' },
  returns: { one: 'return', several: 'returns', list: 'errand return list', isUuid: true, source: 'returns' },
  batches: { one: 'batch', several: 'batches', list: 'errand bulk list', isUuid: true, source: 'batches' },
  accounts: { one: 'account', several: 'accounts', list: 'errand account list', source: 'accounts' },
  approvals: {
    one: 'approval',
    several: 'approvals',
    list: 'errand approval list',
    source: 'approvals',
  },
  intents: {
    one: 'journal record',
    several: 'journal records',
    list: 'errand order journal list',
    source: 'intents',
  },
  events: { one: 'event', several: 'events', list: 'errand webhook events' },
  products: { one: 'product', several: 'products', list: 'errand search WORDS' },
};

/** Describes what a value may refer to, such as `order or return`. */
export const oneOf = (names: readonly RecordKind[]): string =>
  names.map((name) => kinds[name].one).join(' or ');

/** The command that lists what a value may refer to. */
export const listOf = ([first = 'orders']: readonly RecordKind[]): string => kinds[first].list;

/** Whether a text is a row number such as `@2`, or looks like one but is malformed. */
export const isRowNumber = (text: string): boolean => text.startsWith('@');
