import { textIn } from '../api/json.ts';
import type { Intent } from '../journal/journal-record.ts';
import { ErrandError } from '../platform/errors.ts';
import { shellLine } from '../platform/shell.ts';
import { whereFlags } from '../run/context-flags.ts';
import type { OrderContext } from '../run/order-context.ts';
import { metadataOf, referenceHeading, referenceIn } from './needs/reference.ts';
import { scopeOf } from './needs/scope.ts';
import { ordersSince } from './needs/search.ts';
import { type SeenOrder, seeOrder } from './needs/service-orders.ts';
import { listLagMs, waitHint } from './needs/windows.ts';

/** Error code for a batch in doubt that is not resent because somebody else has ordered some of the batch's rows. */
export const orderedElsewhere = 'ordered_elsewhere';

/**
 * Before a batch in doubt is resent, checks that nobody else has ordered the rows of the batch. Another user of the
 * organisation may have done so, because the service keeps the keys of users apart. In that case, throws. Also gives
 * the batch up if so much time has passed that the service must have listed the batch's orders. Uploading the same file
 * again then orders what is missing.
 * @param since is the earliest time at which the batch may have been sent, in ISO 8601.
 * @throws ErrandError conflict.
 */
export async function checkNotOrdered(
  context: OrderContext,
  { key, baseUrl }: Pick<Intent, 'key' | 'baseUrl'>,
  { rows }: { readonly rows: readonly object[] },
  since: string,
): Promise<void> {
  const references = new Set(rows.flatMap((row) => textIn(row, referenceHeading) ?? []));
  const other = references.size > 0 && (await orderSince(context, references, Date.parse(since)));
  if (!other) return;
  const journal = await context.journal();
  const attempts = await journal.attempts();
  const own = await attempts.ofUpload(await scopeOf(context, attempts), key);
  const sentAt = Math.max(Date.parse(since), ...own.map(({ madeAt }) => madeAt));
  // The service may have accepted the batch, but not listed the batch's orders yet.
  const leftMs = sentAt + listLagMs - context.serviceClock.now();
  if (leftMs <= 0) {
    await journal.forget(key, baseUrl);
    await attempts.change(own.map(({ serial }) => ({ serial, state: 'unsent' })));
  }
  const { id } = other.order;
  const reference = referenceIn(other.order.metadata);
  const of = `the order ${id} was made for ${reference ? metadataOf(reference) : 'one of its rows'} since`;
  throw new ErrandError(
    'conflict',
    leftMs > 0
      ? `a batch in doubt is not sent again: ${of}`
      : `a batch in doubt is given up: the service does not have it, and ${of}; nothing was ordered`,
    {
      code: orderedElsewhere,
      details: { order_id: id },
      idempotencyKey: key,
      outcome: leftMs > 0 ? 'unknown' : 'not_sent',
      retryable: true,
      hint: leftMs > 0 ? waitHint(leftMs) : 'The same file again orders what is missing.',
      next: [
        { command: shellLine`errand order get ${id}` + whereFlags(context), when: 'to look at the order' },
      ],
    },
  );
}

/**
 * Finds a live order for one of these references that was created since a time. The references have the form used in
 * metadata.
 */
async function orderSince(
  context: OrderContext,
  references: ReadonlySet<string>,
  since: number,
): Promise<SeenOrder | undefined> {
  const client = await context.client();
  const found = await ordersSince(context, since, ({ metadata }) => {
    const reference = referenceIn(metadata);
    return reference !== undefined && references.has(metadataOf(reference));
  });
  for (const { id } of found) {
    const seen = await seeOrder(client, String(id));
    if (seen?.state === 'placed') return seen;
  }
  return undefined;
}
