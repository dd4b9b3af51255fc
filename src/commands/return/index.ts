import type { RootNoun } from '../../cli/define.ts';
import { create } from './create.ts';
import { get } from './get.ts';
import { labels } from './labels.ts';
import { list } from './list.ts';
import { watch } from './watch.ts';

export const noun: RootNoun = {
  verbs: [create, get, list, watch, labels],
};
