import type { RootNoun } from '../../cli/define.ts';
import { database } from './database.ts';
import { deleteProfile } from './delete.ts';
import { list } from './list.ts';
import { set } from './set.ts';
import { use } from './use.ts';

export const noun: RootNoun = {
  verbs: [list, use, set, database, deleteProfile],
};
