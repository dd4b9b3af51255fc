import type { Noun } from '../../cli/define.ts';
import { check } from './check.ts';
import { list } from './list.ts';

export const noun: Noun = {
  name: 'retailer',
  summary: 'Supported retailers; would an order be refused, and why',
  verbs: [list, check],
};
