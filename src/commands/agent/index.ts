import type { Noun } from '../../cli/define.ts';
import { order } from './order/index.ts';
import { product } from './product/index.ts';
import { search } from './search.ts';

export const noun: Noun = {
  name: 'agent',
  summary: 'Search and order without an account, paid per call',
  verbs: [search, product, order],
};
