import type { Noun } from '../define.ts';
import { add } from './add.ts';
import { list } from './list.ts';
import { remove } from './remove.ts';
import { show } from './show.ts';

export const noun: Noun = {
  name: 'address',
  summary: 'Local address book',
  verbs: [list, add, show, remove],
};
