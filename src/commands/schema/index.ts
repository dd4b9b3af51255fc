import type { RootNoun } from '../../cli/define.ts';
import { diff } from './diff.ts';
import { output } from './output.ts';
import { show } from './show.ts';

export const noun: RootNoun = {
  verbs: [show, output, diff],
};
