import { textIn } from '../../api/json.ts';
import type { ReceivedRow } from '../../api/received.ts';
import { defineCommand } from '../../cli/define.ts';
import type { Client } from '../../http/client.ts';
import { pages } from '../../http/paging.ts';
import { Deadline } from '../../platform/clock.ts';
import { ErrandError } from '../../platform/errors.ts';
import { poll } from '../../platform/poll.ts';
import type { Context } from '../../run/context.ts';
import { checkName, readIds } from '../../run/ids.ts';
import { accountDetailColumns } from './fields.ts';

type Account = ReceivedRow<'account.list'>;

/** Interval, in ms, at which to poll for the first message. */
const pollMs = 3000;

export const forwarding = defineCommand({
  name: 'forwarding',
  summary: "Show where to forward an account's verification codes, and whether that works",
  arguments: [{ name: 'account', names: 'accounts', description: 'short id of the account', required: true }],
  options: { wait: { kind: 'flag', description: 'wait for the first message (see --timeout)' } },
  examples: [
    { command: 'errand account forwarding $ACCOUNT', note: 'the address, and what to set up' },
    {
      command: 'errand account forwarding $ACCOUNT -o json --query forwarding_email',
      note: 'the address alone',
    },
  ],
  output: { record: 'ManagedAccount' },
  operations: ['account.list'],
  exitCodes: { 8: 'with --wait: --timeout passed and no message had come' },
  related: ['account add', 'account list'],
  async run(context, { account: given, wait = false }) {
    const [id = ''] = await readIds(context, 'account', [given], checkName);
    const client = await context.client();
    const deadline = new Deadline(context.clock, context.waitMs());
    let account = await find(client, id, deadline);
    if (!isForwarded(account)) for (const line of instructions(account)) context.note(line);
    if (wait && !isForwarded(account)) account = await untilForwarded(context, client, id, deadline);
    const hints = isForwarded(account) ? ['a message has arrived: codes are passed on'] : [];
    return { kind: 'record', record: account, columns: accountDetailColumns, id: 'short_id', hints };
  },
});

const isForwarded = ({ has_forwarding: has }: Account): boolean => has === true;

/** @throws ErrandError if the service does not return the address. */
function instructions(account: Account): string[] {
  const address = textIn(account, 'forwarding_email');
  if (address === undefined)
    throw new ErrandError('unavailable', 'the service does not name the address to forward to');
  const login = textIn(account, 'email') ?? 'the account';
  return [`Forward what the retailer sends to ${login}, by email or text message, to ${address}:`, ...steps];
}

const steps = [
  '  1. in the mailbox, forward messages of the retailer to this address; a text message can be forwarded the same way',
  '  2. give the forwarded message a fixed subject, such as "verification", with no digits in it: a number there is taken for the code',
  '  3. let the message itself come first in the body: six digits before the code may be taken for it',
  '  4. send one message: the first that arrives verifies the address',
];

/**
 * Finds an account in the list of all accounts, because the service cannot look up a single one. @throws ErrandError
 * not_found.
 */
async function find(client: Client, id: string, deadline: Deadline): Promise<Account> {
  for await (const { rows } of pages(client, 'account.list', {}, { all: true, deadline })) {
    const found = rows.find(({ short_id, id: uuid }) => short_id === id || uuid === id);
    if (found) return found;
  }
  throw new ErrandError('not_found', `there is no account ${id}; \`errand account list\` shows them`);
}

async function untilForwarded(
  { clock, signal }: Context,
  client: Client,
  id: string,
  deadline: Deadline,
): Promise<Account> {
  const forwarded = await poll(
    async () => {
      // The last poll starts after --timeout has passed, so give its request time of its own.
      const account = await find(client, id, new Deadline(clock, Math.max(deadline.leftMs, pollMs)));
      return isForwarded(account) ? account : undefined;
    },
    { deadline, everyMs: pollMs, signal },
  );
  if (forwarded) return forwarded;
  throw new ErrandError('deadline', `--timeout passed; no message has come for ${id}`);
}
