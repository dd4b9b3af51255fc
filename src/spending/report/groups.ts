import { own, textIn } from '../../api/json.ts';
import { datesIn } from '../policy/periods.ts';
import { type RetailerNames, retailersOf } from './retailers.ts';

/** What orders are put together by; `metadata.KEY` besides. */
export const groupings = ['day', 'month', 'retailer', 'country', 'po', 'account'] as const;
export type Grouping = (typeof groupings)[number] | `metadata.${string}`;

/** The group of an order; undefined where the order says nothing of it. */
export type GroupOf = (order: unknown) => string | undefined;

/** Characters of a group's name that are kept; metadata may be as long as anybody likes. */
const longestName = 200;

/**
 * Which group an order belongs to; pure, but for what it is given. An order of several retailers is one group of its own,
 * so that nothing is counted twice.
 */
export function groupOf(
  by: Grouping,
  { timeZone, retailers }: { readonly timeZone: string; readonly retailers: RetailerNames },
): GroupOf {
  const dateAt = datesIn(timeZone);
  const day: GroupOf = (order) => {
    const at = Date.parse(textIn(order, 'created_at') ?? '');
    return Number.isNaN(at) ? undefined : dateAt(at);
  };
  const field = (name: string, record: unknown): string | undefined => {
    const value = own(record, name);
    if (value === undefined || value === null || value === '') return undefined;
    return short(typeof value === 'string' ? value : JSON.stringify(value));
  };
  switch (by) {
    case 'day':
      return day;
    case 'month':
      return (order) => day(order)?.slice(0, 7);
    case 'retailer':
      return (order) => short(retailersOf(order, retailers).join(' + ')) || undefined;
    case 'country':
      return (order) => field('country', own(order, 'shipping_address'))?.toUpperCase();
    case 'po':
      return (order) => field('po_number', order);
    case 'account':
      return (order) => field('retailer_credentials_id', order);
    default: {
      const key = by.slice('metadata.'.length);
      return (order) => field(key, own(order, 'metadata'));
    }
  }
}

const short = (text: string): string => (text.length > longestName ? `${text.slice(0, longestName)}…` : text);
