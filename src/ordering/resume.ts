import type { Context } from '../context.ts';
import { ErrandError } from '../errors.ts';
import type { Client } from '../http/client.ts';
import type { Row } from '../output/result.ts';
import { journalCommand } from '../state/journal-command.ts';
import type { JournalRecord } from '../state/journal-record.ts';
import { sentWithAnother, wasSentWithAnother } from '../state/take-over.ts';
import { sendBatch } from './place-batch.ts';
import type { Placed } from './placed.ts';
import { paidOperation, resumePaid } from './resume-paid.ts';
import { send } from './send.ts';

/**
 * Settles an intent in doubt: the same body with the same key is sent again to the same service.
 * A record that is settled already answers with its order. @throws ErrandError conflict for one that was refused or
 * forgotten, that a live process works on, or that was sent to another service or with another key than those in use.
 */
export async function resumeIntent(
  context: Context,
  found: JournalRecord,
  { keyChanged = false } = {},
): Promise<Placed> {
  const client = await context.client();
  checkService(context, found);
  if (found.state === 'open' && !keyChanged && wasSentWithAnother(found, context.keyMasked()))
    throw sentWithAnother(found);
  const record = await (await context.journal()).claim(found);
  if (record.state === 'settled' && record.order_id !== null)
    return { order: await readMade(client, record.operation, record.order_id), existed: true };
  if (record.state !== 'open') {
    const why = record.message ? ` (${record.message})` : '';
    throw new ErrandError('conflict', `${record.key} is not in doubt: it was ${record.state}${why}`);
  }
  if (record.operation === 'bulk.create') return resumeBatch(context, client, record);
  const { checkShape } = await import('../contract/schemas/check.ts');
  const checked = checkShape('OrderCreate', record.body, 'body');
  if (!checked.value)
    throw new ErrandError('unexpected', `the journal's record ${record.key} does not hold an order`);
  if (record.operation === paidOperation) return resumePaid(context, client, record, checked.value);
  return send(context, client, { ...checked.value, idempotency_key: record.key }, 'again');
}

/** What a settled record has led to: an order, or a batch. */
async function readMade(client: Client, operation: string, id: string): Promise<Row> {
  if (operation === 'bulk.create') return (await client.call('bulk.get', { path: { batch_id: id } })).body;
  return (await client.call('order.get', { path: { order_id: id } })).body;
}

async function resumeBatch(context: Context, client: Client, record: JournalRecord): Promise<Placed> {
  const { checkShape } = await import('../contract/schemas/check.ts');
  const { value } = checkShape('BulkUploadRequest', record.body, 'body');
  if (!value) throw new ErrandError('unexpected', `the journal's record ${record.key} does not hold a batch`);
  const batch = {
    key: record.key,
    filename: value.filename ?? '',
    rows: value.rows,
    notifies: value.notify_on_complete === true,
  };
  const { id, existed } = await sendBatch(context, batch, true);
  return { order: await readMade(client, record.operation, id), existed };
}

function checkService(context: Context, record: JournalRecord): void {
  const { profile, baseUrl } = context.settings;
  if (record.base_url === baseUrl.value) return;
  throw new ErrandError(
    'conflict',
    `${record.key} was sent to ${record.base_url}, and this profile is ${baseUrl.value}`,
    {
      outcome: 'not_sent',
      next: [
        {
          command: journalCommand(
            'resume',
            record.key,
            ` --profile ${record.profile} --base-url ${record.base_url}`,
          ),
          when: `to settle it where it was sent (now: ${profile.value})`,
        },
      ],
    },
  );
}
