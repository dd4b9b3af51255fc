import type { Noun } from '../../cli/define.ts';
import { get } from './get.ts';
import { offers } from './offers.ts';
import { search } from './search.ts';

export const noun: Noun = {
  name: 'product',
  summary: "One retailer's products: search, details, offers",
  verbs: [search, get, offers],
};
