import { defineCommand } from '../../cli/define.ts';
import { UsageError } from '../../platform/errors.ts';
import { policyExit } from '../../spending/options.ts';
import { fileOption } from '../../standing/file.ts';
import { runStandingOrders } from '../../standing/run.ts';

export const run = defineCommand({
  name: 'run',
  summary: 'Buy what is due, once, on as many machines as you like',
  description:
    'For cron or a CI job. Each date is bought once, whichever machine runs, however often: its order has a reference that follows from the entry and the date. What is due the clock of the service decides. A date that was missed is bought late, for as long as the entry says; after that it is reported as missed.',
  arguments: [
    {
      name: 'names',
      completes: 'standing',
      variadic: true,
      description: 'only these standing orders; all without',
    },
  ],
  options: {
    until: {
      kind: 'text',
      placeholder: 'date',
      description: 'with --dry-run: what it would do up to this date',
    },
    ...fileOption,
  },
  examples: [
    { command: 'errand standing run', note: 'every hour, by cron' },
    { command: 'errand standing run --dry-run --until 2027-03-01', note: 'what it would buy by then' },
  ],
  output: { list: 'StandingDate' },
  operations: ['order.list', 'order.create', 'order.get'],
  exitCodes: {
    1: 'the journal or the state folder cannot be read or written',
    2: 'the file or an order in it is wrong, or may be changed by others',
    3: 'the API key is missing or refused',
    4: 'there is no standing order of a name given',
    5: 'another machine has another file, an order of its reference differs, or another run is at work on it',
    6: 'the wallet cannot cover it',
    7: 'a date was missed, failed, or is left out by an edit that this machine has not seen, or several went wrong in different ways',
    9: 'the service cannot be reached, or does not tell its time',
    10: 'an order is in doubt; the next run settles it',
    11: `${policyExit}; or nobody has agreed that it spends real money`,
    130: 'interrupted; the next run goes on',
  },
  related: ['standing list', 'standing add', 'order journal'],
  async run(context, { names, until, standing }) {
    if (until !== undefined && !context.previewsRequests) throw new UsageError('--until needs --dry-run');
    const result = await runStandingOrders(context, {
      names,
      standing,
      until: until === undefined ? undefined : await momentOf(until, context.clock.now()),
    });
    return {
      kind: 'list',
      rows: result.rows,
      columns: [
        { name: 'date', path: 'date', weight: 9 },
        { name: 'name', path: 'name', weight: 8 },
        { name: 'outcome', path: 'outcome', kind: 'status', weight: 10, mood: moodOf },
        { name: 'order', path: 'order_id', kind: 'id', names: 'orders', weight: 7 },
        { name: 'ceiling', path: 'max_price', kind: 'money', weight: 4 },
        { name: 'message', path: 'message', isProse: true, wraps: true, weight: 3 },
      ],
      id: 'order_id',
      empty: 'nothing is due',
      hints: () => result.hints,
      exitCode: () => result.exitCode,
    };
  },
});

const dayMs = 86_400_000;

/** Maximum number of days that a dry run looks ahead. */
const maxAhead = 3660;

/**
 * The end of a date in UTC, in ms since the epoch.
 * @param now is this machine's time.
 */
async function momentOf(text: string, now: number): Promise<number> {
  const { dayOf } = await import('../../standing/cadence.ts');
  const day = dayOf(text);
  if (day === undefined) throw new UsageError(`--until takes a date such as 2027-03-01, not "${text}"`);
  if ((day + 2) * dayMs < now) throw new UsageError(`--until takes a date to come, and ${text} is past`);
  if (day * dayMs > now + maxAhead * dayMs)
    throw new UsageError(`--until takes a date within ten years from now, not ${text}`);
  return (day + 1) * dayMs - 1;
}

const good: readonly unknown[] = ['placed', 'existed', 'bought'];
const bad: readonly unknown[] = ['failed', 'missed', 'refused', 'conflict', 'unknown', 'waiting'];

function moodOf({ outcome }: { readonly outcome?: unknown }) {
  return good.includes(outcome) ? 'good' : bad.includes(outcome) ? 'bad' : 'past';
}
