import { type SandboxTrigger, sandboxTriggers, triggerPath } from '../../api/control.ts';
import { errorTypes } from '../../api/error-types.ts';
import type { Output } from '../../api/outputs/index.ts';
import { defineCommand } from '../../cli/define.ts';
import type { Column } from '../../format/result.ts';
import { ErrandError, UsageError } from '../../platform/errors.ts';
import { checkName, eachId, readIds } from '../../run/ids.ts';
import { checkSandbox } from './controlled.ts';
import { walletCents } from './rehearsal-options.ts';

const events = Object.keys(sandboxTriggers);

const columns: readonly Column[] = [
  { name: 'id', path: 'id', kind: 'id', weight: 2 },
  { name: 'event', path: 'event', weight: 1 },
  { name: 'status', path: 'status', kind: 'status', weight: 1 },
];

const walletColumns: readonly Column[] = [
  { name: 'event', path: 'event' },
  { name: 'amount', path: 'amount', kind: 'money' },
  { name: 'balance', path: 'balance', kind: 'money' },
];

export const trigger = defineCommand({
  name: 'trigger',
  summary: 'Make something happen in the sandbox now',
  lists: [
    {
      title: 'Events',
      rows: Object.fromEntries(
        Object.entries(sandboxTriggers).map(([name, { description }]) => [name, description]),
      ),
    },
  ],
  arguments: [
    { name: 'event', offers: sandboxTriggers, description: 'what happens', required: true },
    {
      name: 'ids',
      names: ['orders', 'returns', 'accounts'],
      description: 'what it happens to; - reads ids from stdin',
      variadic: true,
    },
  ],
  options: {
    errorType: {
      kind: 'choice',
      values: Object.keys(errorTypes),
      description: 'with failed: why (default checkout_failed)',
    },
    amount: { kind: 'money', description: "with wallet-funded: how much, '$5,000' or 5000.00" },
  },
  examples: [
    { command: 'errand sandbox trigger placed $PENDING', note: 'without waiting for it' },
    {
      command: 'errand sandbox trigger failed $PENDING --error-type account_locked',
      note: 'rehearse a failure',
    },
    {
      command: "errand sandbox trigger wallet-funded --amount '$200,000'",
      note: 'enough for a CSV of thousands',
    },
  ],
  output: { list: 'TriggeredEvent' },
  exitCodes: { 5: 'the state of its target forbids it' },
  related: ['sandbox advance', 'sandbox products', 'order watch'],
  async run(context, { event, ids = [], errorType, amount }) {
    const known = sandboxTriggers[checkEvent(event)];
    if (errorType !== undefined && event !== 'failed')
      throw new UsageError(`--error-type belongs to failed, not to ${event}`);
    if ((amount !== undefined) !== (event === 'wallet-funded'))
      throw new UsageError(
        amount !== undefined
          ? `--amount belongs to wallet-funded, not to ${event}`
          : 'wallet-funded needs --amount',
      );
    if (amount === 0) throw new UsageError('--amount takes more than $0');
    const targets = await readIds(context, known.target, ids, checkName);
    if (known.target === 'none' && targets.length > 0) throw new UsageError(`${event} takes no id`);
    if (known.target !== 'none' && targets.length === 0)
      throw new UsageError(
        `${event} needs the ${known.target === 'code' ? 'code' : `id of the ${known.target}`}`,
      );
    await checkSandbox(context, 'trigger');
    const client = await context.client();
    return {
      kind: 'list',
      columns: event.startsWith('wallet-') ? walletColumns : columns,
      ...eachId(context, known.target === 'none' ? [''] : targets, fire),
    };

    async function fire(id: string): Promise<Output<'TriggeredEvent'>> {
      const body = {
        event,
        id,
        ...(errorType !== undefined && { error_type: errorType }),
        ...(amount !== undefined && { amount: walletCents('--amount', amount) }),
      };
      try {
        const response = await client.raw({ method: 'POST', path: triggerPath, body: JSON.stringify(body) });
        return 'json' in response ? { event, ...Object(response.json) } : { event, id };
      } catch (error) {
        if (!(error instanceof ErrandError)) throw error;
        // Rewords a refusal. The request is well-formed, so the sandbox refuses it because of the target's state.
        if (error.facts.code === 'bad_request')
          throw new ErrandError('conflict', error.message, state(error));
        throw error;
      }
    }
  },
});

const state = ({ facts: { hint: _, details: __, ...facts } }: ErrandError): ErrandError['facts'] => facts;

function checkEvent(event: string): SandboxTrigger {
  const known = events.find((name) => name === event);
  // The cast is safe because the word was found among the table's keys.
  if (known) return known as SandboxTrigger;
  throw new UsageError(`there is no event "${event}"; the sandbox knows ${events.join(', ')}`);
}
