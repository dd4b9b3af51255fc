import type { RootNoun } from '../../cli/define.ts';
import { exportChain } from './export.ts';
import { head } from './head.ts';
import { log } from './log.ts';
import { verify } from './verify.ts';

export const noun: RootNoun = { verbs: [log, verify, head, exportChain] };
