import type { RootNoun } from '../../cli/define.ts';
import { add } from './add.ts';
import { forwarding } from './forwarding.ts';
import { list } from './list.ts';
import { remove } from './remove.ts';
import { update } from './update.ts';

export const noun: RootNoun = {
  verbs: [list, add, update, remove, forwarding],
};
