import { defineRootCommand } from '../../cli/define.ts';
import type { NoResult } from '../../format/result.ts';
import { ErrandError } from '../../platform/errors.ts';
import { shellLine } from '../../platform/shell.ts';
import { typedId } from '../../run/context-flags.ts';
import { follow } from './follow.ts';
import { check, find, labels, mint, place, type Run } from './steps.ts';
import { quickstartView } from './view.ts';

export const command = defineRootCommand({
  description:
    'Search, check, order, watch to delivery. Each step shows the command that repeats it. Nothing is bought: only a test key is used.',
  examples: [
    { command: 'errand quickstart', note: 'about ten seconds, no account and no network' },
    { command: 'errand quickstart -o json --query id', note: 'the id of the delivered order, for a script' },
  ],
  output: { record: 'order.get' },
  operations: ['search', 'retailer.check', 'order.create', 'order.list'],
  exitCodes: { 7: 'the order failed', 8: 'it was not delivered in time' },
  related: ['search', 'order create', 'order watch', 'sandbox serve'],
  async run(context) {
    const view = await quickstartView(context);
    const run: Run = { context, view, steps: [], state: '' };
    try {
      await mint(run);
      const listing = await find(run);
      await check(run, listing);
      const order = await place(run, listing);
      return await follow(run, order);
    } catch (error) {
      return stopped(run, error);
    } finally {
      view.close();
    }
  },
});

/**
 * What a run that stopped on the way says: where, and what was done by then. Ctrl-C is no failure, as long as nothing is
 * in doubt.
 */
function stopped({ context, view, steps, state }: Run, error: unknown): NoResult {
  const step = steps.at(-1);
  const { reason }: { reason: unknown } = context.signal;
  const made = context.unreported();
  if (step === undefined) throw error;
  // What is sent before an order costs nothing: a key of the sandbox that may have been minted is in nobody's way.
  const isInDoubt =
    made.some(({ madeId }) => madeId === undefined) ||
    (step === 'order' && error instanceof ErrandError && error.facts.outcome === 'unknown');
  if (reason instanceof ErrandError && !isInDoubt && context.output.format === 'table') {
    view.ended('open', labels[step], state === '' ? 'stopped here' : state);
    const id = made[0]?.madeId;
    const said = id
      ? `The order goes on: ${shellLine`errand order watch ${typedId(context, id)}`}`
      : 'Nothing was ordered. From the start: errand quickstart';
    return { kind: 'none', hints: [said], exitCode: reason.exitCode };
  }
  if (view.isLive) view.ended('failed', labels[step], 'stopped here');
  const before = steps.slice(0, -1).map((name) => labels[name]);
  if (!(error instanceof ErrandError) || reason !== undefined || before.length === 0) throw error;
  const mayBeOrdered = made.length > 0 || error.facts.outcome === 'unknown';
  const done = mayBeOrdered ? [] : [`Done before: ${before.join(', ')}. Nothing was ordered.`];
  throw new ErrandError(error.category, `${labels[step]}: ${error.message}`, {
    ...error.facts,
    cause: error,
    hint: [...(error.facts.hint ? [error.facts.hint] : []), ...done].join(' ') || undefined,
  });
}
