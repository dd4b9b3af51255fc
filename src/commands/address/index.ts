import type { RootNoun } from '../../cli/define.ts';
import { add } from './add.ts';
import { list } from './list.ts';
import { remove } from './remove.ts';
import { show } from './show.ts';
import { update } from './update.ts';

export const noun: RootNoun = {
  verbs: [list, add, show, update, remove],
};
