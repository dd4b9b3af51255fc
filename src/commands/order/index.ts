import type { RootNoun } from '../../cli/define.ts';
import { reminding } from '../../cli/orders/created.ts';
import { cancel } from './cancel.ts';
import { create } from './create.ts';
import { explain } from './explain.ts';
import { exportOrders } from './export.ts';
import { get } from './get.ts';
import { journal } from './journal/index.ts';
import { list } from './list.ts';
import { timeline } from './timeline.ts';
import { watch } from './watch.ts';

export const noun: RootNoun = {
  verbs: [...[create, get, list, watch, timeline, explain, cancel, exportOrders].map(reminding), journal],
};
