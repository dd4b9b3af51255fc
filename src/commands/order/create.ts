import type { Context } from '../../context.ts';
import type { ShapeInput } from '../../contract/schemas/index.ts';
import { placeOrder } from '../../ordering/place.ts';
import { untilValues } from '../../ordering/watch-policy.ts';
import { addressFields, addressOptions } from '../address-options.ts';
import { centsOf } from '../ceiling.ts';
import { confirmSpending } from '../confirm-spending.ts';
import { defineCommand } from '../define.ts';
import { readDocument } from '../read-document.ts';
import { completePayload } from './ask.ts';
import { orderDetailColumns } from './columns.ts';

import { keyedFulfillment, payloadFromFlags } from './payload.ts';
import { payloadOptions } from './payload-options.ts';
import { resolveAddress } from './ship-to.ts';
import { watchResult } from './watch.ts';

const centFields = ['max_price'] as const satisfies readonly (keyof ShapeInput<'OrderCreate'>)[];

export const create = defineCommand({
  name: 'create',
  summary: 'Place an order for product URLs under a price ceiling',
  description:
    'From flags, a JSON or YAML file, stdin, or prompts. The order is written to the journal before it is sent, so that one intent ends as one order.',
  options: {
    ...payloadOptions,
    shipTo: {
      kind: 'text',
      placeholder: 'name|file|-',
      description: 'saved address, a file with one, or - for stdin',
    },
    file: {
      kind: 'text',
      placeholder: 'file|-',
      description: 'a whole payload as JSON or YAML; flags override it',
    },
    watch: { kind: 'flag', description: 'follow the order to its end' },
    until: {
      kind: 'choice',
      values: untilValues,
      description: 'with --watch: what to wait for (default delivered)',
    },
    yes: { kind: 'flag', description: 'spend with a live key without being asked' },
    new: {
      kind: 'flag',
      description: 'a second order on purpose, though the first of the same kind is in doubt',
    },
    ...addressOptions,
  },
  examples: [
    {
      command: "errand order create --product $URL --max-price '$50.00' --ship-to home --watch",
      note: 'order, and follow it to the door',
    },
    {
      command: 'errand order create --file order.json -o json --query id',
      note: 'from a file, for a script',
    },
    {
      command: "errand order create --product $URL,quantity=2 --max-price '$80' --ship-to home --dry-run",
      note: 'the request, not sent',
    },
  ],
  operations: ['order.create'],
  exitCodes: {
    5: 'the idempotency key belongs to another order',
    6: 'the wallet cannot cover it',
    7: 'with --watch: the order failed or was cancelled',
    8: 'with --watch: --timeout passed; the order goes on',
    10: 'in doubt: sent, and no answer came; `order journal resume` finds out',
  },
  related: ['search', 'retailer check', 'order watch', 'order journal'],
  async run(context, input) {
    await context.ready();
    const payload = await assemble(context, input);
    const { checkOrder } = await import('../check-order.ts');
    const body = await checkOrder(payload, input.file);
    await confirmSpending(context, body, input.yes === true);
    const { order, existed } = await placeOrder(context, body, { evenIfInDoubt: input.new === true });
    if (existed) context.note('this order existed already; nothing was ordered twice');
    if (input.watch) return watchResult(context, [String(order.id)], { until: input.until ?? 'delivered' });
    return {
      kind: 'record',
      record: order,
      columns: orderDetailColumns,
      hints: [`follow it: errand order watch ${String(order.id)}`],
    };
  },
});

type CreateInput = Parameters<typeof payloadFromFlags>[0] &
  Parameters<typeof addressFields>[0] & { readonly file?: string; readonly shipTo?: string };

/** File, flags, address and prompts to one payload, in that order of precedence. */
async function assemble(context: Context, input: CreateInput): Promise<Readonly<Record<string, unknown>>> {
  const file =
    input.file === undefined ? {} : (await readDocument(context, '--file', input.file, centFields)).value;
  const fields = addressFields(input);
  const inFile = file.shipping_address;
  const address =
    inFile !== undefined && input.shipTo === undefined
      ? { ...Object(inFile), ...fields }
      : await resolveAddress(context, input.shipTo, fields);
  if (input.maxPrice) centsOf(context, '--max-price', input.maxPrice);
  const payload = await payloadFromFlags(input, { ...file, ...(address && { shipping_address: address }) });
  const keyed = keyedFulfillment(payload.fulfillment);
  return completePayload(context, { ...payload, ...(keyed && { fulfillment: keyed }) }, context.argv);
}
