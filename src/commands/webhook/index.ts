import type { Noun } from '../../cli/define.ts';
import { events } from './events.ts';
import { listenCommand } from './listen.ts';
import { register } from './register.ts';
import { replay } from './replay.ts';

export const noun: Noun = {
  name: 'webhook',
  summary: 'Register an address; receive, show, forward and replay events',
  verbs: [listenCommand, register, events, replay],
};
