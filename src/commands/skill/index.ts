import type { RootNoun } from '../../cli/define.ts';
import { install } from './install.ts';
import { remove } from './remove.ts';

export const noun: RootNoun = { verbs: [install, remove] };
