import type { RootNoun } from '../../cli/define.ts';
import { order } from './order/index.ts';
import { product } from './product/index.ts';
import { search } from './search.ts';

export const noun: RootNoun = {
  verbs: [search, product, order],
};
