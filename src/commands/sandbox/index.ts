import type { RootNoun } from '../../cli/define.ts';
import { advance } from './advance.ts';
import { exec } from './exec.ts';
import { exportScenario } from './export.ts';
import { fault } from './fault.ts';
import { mint } from './mint.ts';
import { products } from './products.ts';
import { reset } from './reset.ts';
import { restore } from './restore.ts';
import { serve } from './serve.ts';
import { snapshot } from './snapshot.ts';
import { status } from './status.ts';
import { test } from './test.ts';
import { trigger } from './trigger.ts';

export const noun: RootNoun = {
  verbs: [
    mint,
    status,
    products,
    serve,
    exec,
    test,
    exportScenario,
    trigger,
    fault,
    advance,
    snapshot,
    restore,
    reset,
  ],
};
