import type { Noun } from '../../cli/define.ts';
import { add } from './add.ts';
import { forwarding } from './forwarding.ts';
import { list } from './list.ts';
import { remove } from './remove.ts';
import { update } from './update.ts';

export const noun: Noun = {
  name: 'account',
  summary: 'Retailer accounts that orders are placed with',
  verbs: [list, add, update, remove, forwarding],
};
