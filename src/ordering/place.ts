import { randomUUID } from 'node:crypto';
import type { Context } from '../context.ts';
import type { Intent } from '../state/journal-record.ts';
import { readExisting } from './existing.ts';
import { type Body, type KeyedBody, type Placed, twinMs } from './placed.ts';
import { resumeIntent } from './resume.ts';
import { send } from './send.ts';

/**
 * Places one order for one intent: written to the journal before it is sent, settled when the answer comes.
 * Asked again while the first is in doubt, it settles the first one instead, unless `evenIfInDoubt` or a key is given.
 * @throws ErrandError: in_doubt when no answer came, naming the command that finds out.
 */
export async function placeOrder(
  context: Context,
  body: Body,
  options: { readonly evenIfInDoubt: boolean },
): Promise<Placed> {
  if (context.previewsRequests) return preview(context, body);
  const client = await context.client();
  const keyed: KeyedBody = { ...body, idempotency_key: body.idempotency_key ?? randomUUID() };
  const intent = intentOf(context, keyed);
  const journal = await context.journal();
  const twinsSince = options.evenIfInDoubt || body.idempotency_key ? undefined : context.clock.now() - twinMs;
  const twin = twinsSince === undefined ? undefined : journal.findTwin(intent, twinsSince);
  if (twin) {
    context.note(
      `the same order is in doubt since ${twin.created_at}; settling that one (--new orders another)`,
    );
    return resumeIntent(context, twin);
  }
  const settled = journal.settledOrder(intent.key, intent.baseUrl, intent.keyMasked);
  if (settled !== undefined) return readExisting(client, keyed, settled, {});
  const { mayBeSent } = await journal.record(intent, twinsSince);
  return send(context, client, keyed, mayBeSent ? 'again' : 'first');
}

/** Shows the request as it would be sent; nothing is journaled. */
async function preview(context: Context, body: Body): Promise<Placed> {
  const client = await context.client();
  const { body: order } = await client.call('order.create', { body });
  return { order, existed: false };
}

function intentOf(context: Context, body: KeyedBody): Intent {
  const { profile, baseUrl } = context.settings;
  return {
    key: body.idempotency_key,
    operation: 'order.create',
    profile: profile.value,
    baseUrl: baseUrl.value,
    keyMasked: context.keyMasked(),
    body,
  };
}
