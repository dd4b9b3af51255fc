import type { RootNoun } from '../../cli/define.ts';
import { apply } from './apply.ts';
import { cancel } from './cancel.ts';
import { get } from './get.ts';
import { list } from './list.ts';
import { maps } from './maps.ts';
import { plan } from './plan.ts';
import { report } from './report.ts';
import { results } from './results.ts';
import { resume } from './resume.ts';
import { retry } from './retry.ts';
import { returnFile } from './return.ts';
import { show } from './show.ts';
import { template } from './template.ts';
import { upload } from './upload.ts';
import { uploads } from './uploads.ts';
import { validate } from './validate.ts';
import { watch } from './watch.ts';

export const noun: RootNoun = {
  verbs: [
    template,
    maps,
    validate,
    plan,
    show,
    apply,
    upload,
    uploads,
    resume,
    list,
    get,
    watch,
    results,
    report,
    retry,
    cancel,
    returnFile,
  ],
};
