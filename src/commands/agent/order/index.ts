import type { Noun } from '../../../cli/define.ts';
import { reminding } from '../../../cli/orders/created.ts';
import { create } from './create.ts';
import { receipt } from './receipt.ts';

export const order: Noun = {
  name: 'order',
  summary: 'Orders that are paid for as they are placed',
  verbs: [reminding(create), receipt],
};
