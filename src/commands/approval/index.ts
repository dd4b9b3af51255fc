import type { RootNoun } from '../../cli/define.ts';
import { approve } from './approve.ts';
import { deny } from './deny.ts';
import { exportApproval } from './export.ts';
import { importApproval } from './import.ts';
import { list } from './list.ts';
import { show } from './show.ts';

export const noun: RootNoun = {
  verbs: [list, show, approve, deny, exportApproval, importApproval],
};
