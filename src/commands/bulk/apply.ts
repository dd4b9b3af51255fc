import { shardOption } from '../../bulk/check/check.ts';
import { defineCommand } from '../../cli/define.ts';
import { policyExit, policyOptions } from '../../spending/options.ts';
import { sentOutput } from './place-file.ts';
import { applyPlan } from './place-plan.ts';

export const apply = defineCommand({
  name: 'apply',
  summary: 'Place the orders of a plan, exactly as it was planned',
  description:
    'Works like `bulk upload`: same orders, keys, journal and policy. Sends the rows that are new in the plan, as the attempts that it says, and names those that were placed, tried again or ended since. Refuses a plan that was altered, is a day old, was made for another service or account, or that the wallet or the policy no longer allows. Apply it again after a crash or by mistake: it places nothing twice and continues with the rest. If a price has changed since, the ceiling still protects you, and --recheck-prices checks it again.',
  arguments: [{ name: 'plan', completes: 'files', description: 'a plan of `bulk plan`', required: true }],
  options: {
    only: {
      kind: 'list',
      placeholder: 'retailer',
      completes: 'retailers',
      description: 'place the rows of these retailers alone, by name or host; the rest can be applied later',
    },
    rows: {
      kind: 'list',
      placeholder: '2-201',
      description: 'place these rows alone, by the numbers of the file: 2,5-9; the rest can be applied later',
    },
    ...shardOption,
    recheckPrices: {
      kind: 'flag',
      description: 'refuse where a price is unknown now, or higher than it was planned',
    },
    yes: { kind: 'flag', description: 'spend with a live key without confirmation' },
    ...policyOptions,
    watch: { kind: 'flag', description: 'follow the batches to their end' },
  },
  examples: [
    {
      command: 'errand bulk apply december.plan --rows 12',
      note: 'one row first, by its number in the file',
    },
    { command: 'errand bulk apply december.plan --watch', note: 'then the rest, followed to the end' },
  ],
  output: sentOutput,
  operations: ['bulk.create', 'bulk.validate'],
  exitCodes: {
    5: 'rows were tried again since, or are like orders placed since; they were not sent, the others were',
    7: 'with --watch: a row failed',
    10: 'in doubt: a batch was sent and no response came; the same command again finds out',
    11: `the plan was altered, has expired, is for another account, or wallet or policy have moved against it; ${policyExit}`,
  },
  related: ['bulk plan', 'bulk show', 'bulk watch', 'bulk results'],
  run: (context, { plan, ...given }) => applyPlan(context, plan, given),
});
