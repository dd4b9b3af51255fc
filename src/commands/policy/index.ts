import type { RootNoun } from '../../cli/define.ts';
import { check } from './check.ts';
import { init } from './init.ts';
import { publish } from './publish.ts';
import { show } from './show.ts';
import { trust } from './trust.ts';
import { usage } from './usage.ts';

export const noun: RootNoun = {
  verbs: [show, check, usage, init, publish, trust],
};
