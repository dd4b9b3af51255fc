import type { Noun } from '../../../cli/define.ts';
import { get } from './get.ts';
import { offers } from './offers.ts';
import { search } from './search.ts';

export const product: Noun = {
  name: 'product',
  summary: "One retailer's products, a cent a call",
  verbs: [search, get, offers],
};
