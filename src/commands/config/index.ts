import type { Noun } from '../../cli/define.ts';
import { get } from './get.ts';
import { list } from './list.ts';
import { path } from './path.ts';
import { set } from './set.ts';

export const noun: Noun = { name: 'config', summary: 'Preferences', verbs: [get, set, list, path] };
