import type { RootNoun } from '../../cli/define.ts';
import { product } from './product.ts';
import { retry } from './retry.ts';

export const noun: RootNoun = {
  verbs: [product, retry],
};
