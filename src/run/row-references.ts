import type { RecordKind } from '../format/result.ts';
import type { RecordSource } from './option.ts';

interface Kind {
  readonly one: string;
  readonly several: string;
  /** The command that lists them. */
  readonly list: string;
  /** Whether their ids are UUIDs; others have a form of their own, and the command itself says what is wrong with one. */
  readonly isUuid?: true;
  /** Where this machine knows them. */
  readonly source?: RecordSource;
}

/** The kinds of records, in words. */
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

/** What a value may name, in words: `order or return`. */
export const oneOf = (names: readonly RecordKind[]): string =>
  names.map((name) => kinds[name].one).join(' or ');

/** The command that lists what a value may name. */
export const listOf = ([first = 'orders']: readonly RecordKind[]): string => kinds[first].list;

/** `@2`, or what might be meant for one. */
export const isRowNumber = (text: string): boolean => text.startsWith('@');
