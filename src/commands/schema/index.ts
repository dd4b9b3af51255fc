import type { Noun } from '../../cli/define.ts';
import { diff } from './diff.ts';
import { show } from './show.ts';

export const noun: Noun = {
  name: 'schema',
  summary: 'The contract, and how far the service has moved from it',
  verbs: [show, diff],
};
