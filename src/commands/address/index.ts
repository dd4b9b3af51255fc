import type { Noun } from '../../cli/define.ts';
import { add } from './add.ts';
import { list } from './list.ts';
import { remove } from './remove.ts';
import { show } from './show.ts';
import { update } from './update.ts';

export const noun: Noun = {
  name: 'address',
  summary: 'Local address book',
  verbs: [list, add, show, update, remove],
};
