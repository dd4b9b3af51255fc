import type { RootNoun } from '../../cli/define.ts';
import { get } from './get.ts';
import { list } from './list.ts';
import { results } from './results.ts';
import { retry } from './retry.ts';
import { template } from './template.ts';
import { upload } from './upload.ts';
import { validate } from './validate.ts';
import { watch } from './watch.ts';

export const noun: RootNoun = {
  verbs: [template, validate, upload, list, get, watch, results, retry],
};
