import type { Noun } from '../../cli/define.ts';
import { advance } from './advance.ts';
import { mint } from './mint.ts';
import { products } from './products.ts';
import { reset } from './reset.ts';
import { restore } from './restore.ts';
import { serve } from './serve.ts';
import { snapshot } from './snapshot.ts';
import { status } from './status.ts';
import { trigger } from './trigger.ts';

export const noun: Noun = {
  name: 'sandbox',
  summary: 'Sandbox keys, and the local sandbox as a server',
  verbs: [mint, status, products, serve, trigger, advance, snapshot, restore, reset],
};
