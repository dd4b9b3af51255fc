import type { RootNoun } from '../../cli/define.ts';
import { get } from './get.ts';
import { offers } from './offers.ts';
import { search } from './search.ts';

export const noun: RootNoun = {
  verbs: [search, get, offers],
};
