import type { RootNoun } from '../../cli/define.ts';
import { check } from './check.ts';
import { list } from './list.ts';

export const noun: RootNoun = {
  verbs: [list, check],
};
