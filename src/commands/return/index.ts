import type { Noun } from '../../cli/define.ts';
import { create } from './create.ts';
import { get } from './get.ts';
import { labels } from './labels.ts';
import { list } from './list.ts';

export const noun: Noun = {
  name: 'return',
  summary: 'Return items of placed orders; download the labels',
  verbs: [create, get, list, labels],
};
