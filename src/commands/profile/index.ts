import type { Noun } from '../../cli/define.ts';
import { deleteProfile } from './delete.ts';
import { list } from './list.ts';
import { set } from './set.ts';
import { use } from './use.ts';

export const noun: Noun = {
  name: 'profile',
  summary: 'Named contexts: a service and its key',
  verbs: [list, use, set, deleteProfile],
};
