import type { RootNoun } from '../../cli/define.ts';
import { exportAccounting } from './export.ts';
import { show } from './show.ts';

export const noun: RootNoun = { verbs: [show, exportAccounting] };
