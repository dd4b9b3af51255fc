import type { RootNoun } from '../../cli/define.ts';
import { reminding } from '../../cli/orders/created.ts';
import { add } from './add.ts';
import { edit } from './edit.ts';
import { list } from './list.ts';
import { pause } from './pause.ts';
import { remove } from './remove.ts';
import { resume } from './resume.ts';
import { run } from './run.ts';
import { show } from './show.ts';
import { skip } from './skip.ts';

export const noun: RootNoun = {
  verbs: [add, list, show, reminding(run), pause, resume, skip, edit, remove],
};
