import type { RootNoun } from '../../cli/define.ts';
import { events } from './events.ts';
import { listenCommand } from './listen.ts';
import { register } from './register.ts';
import { replay } from './replay.ts';
import { waitCommand } from './wait.ts';

export const noun: RootNoun = {
  verbs: [listenCommand, waitCommand, register, events, replay],
};
