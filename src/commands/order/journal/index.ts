import type { Noun } from '../../../cli/define.ts';
import { forget } from './forget.ts';
import { list } from './list.ts';
import { move } from './move.ts';
import { repair } from './repair.ts';
import { resume } from './resume.ts';

export const journal: Noun = {
  name: 'journal',
  summary: 'Orders in doubt: sent, and no response came',
  verbs: [list, resume, forget, move, repair],
};
