import type { RootNoun } from '../../cli/define.ts';
import { edit } from './edit.ts';
import { get } from './get.ts';
import { list } from './list.ts';
import { path } from './path.ts';
import { set } from './set.ts';

export const noun: RootNoun = { verbs: [get, set, list, edit, path] };
