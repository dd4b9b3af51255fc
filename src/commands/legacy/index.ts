import type { Noun } from '../../cli/define.ts';
import { product } from './product.ts';
import { retry } from './retry.ts';

export const noun: Noun = {
  name: 'legacy',
  summary: 'The v1 surface: product details, retry of a failed order',
  verbs: [product, retry],
};
