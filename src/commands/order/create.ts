import { defineCommand } from '../../cli/define.ts';
import {
  checkFollowing,
  createdOutput,
  orderAssembled,
  placedExits,
  watchOptions,
} from '../../cli/orders/created.ts';
import type { TitleOf } from '../../format/result.ts';
import { addressFields } from '../../orders/addresses/options.ts';
import { assembleOrder, orderInputOptions } from '../../orders/input/assemble.ts';
import type { Completed } from '../../orders/input/complete.ts';
import { referenceOptions } from '../../orders/needs/options.ts';
import { UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { checkUuid } from '../../run/ids.ts';
import { declinedExit, policyExit, policyOptions } from '../../spending/options.ts';

export const create = defineCommand({
  name: 'create',
  summary: 'Place an order for product URLs under a price ceiling',
  description:
    'From flags, a JSON or YAML file, stdin, or prompts. The order is written to the journal before it is sent, so that one intent ends as one order. The same products for the same recipient within a short time (12 h; with a test key 10 min) are taken for a duplicate, whatever their ceiling, quantity or metadata: on a terminal errand asks, a script is refused. What failed or was cancelled is ordered again, what was sent back only with --again. An --idempotency-key or a --reference says which order it is.',
  options: {
    ...orderInputOptions,
    ...watchOptions,
    ...policyOptions,
    ...referenceOptions,
    like: {
      kind: 'text',
      placeholder: 'id',
      names: 'orders',
      description: 'repeat this earlier order, without its webhooks and with a new key; flags override it',
    },
    yes: { kind: 'flag', description: 'spend with a live key without confirmation' },
    new: {
      kind: 'flag',
      description: 'order another, even if one like it was just placed or is in doubt',
    },
  },
  positional: 'product',
  examples: [
    {
      command: "errand order create --product $URL --max-price '$50.00' --ship-to home --watch",
      note: 'order, and watch it until delivered',
    },
    {
      command: 'errand order create --file order.json --reference REQ-00006 -o json --query id',
      note: 'from a file, for a script: bought once, however often and wherever it runs',
    },
    {
      command: "errand order create --product $URL,quantity=2 --max-price '$80' --ship-to home --dry-run",
      note: 'the request, not sent',
    },
    {
      command: 'errand order create --like $ORDER --dry-run',
      note: 'what a repeat of an earlier order would send',
    },
  ],
  output: createdOutput,
  operations: ['order.create', 'order.get'],
  exitCodes: {
    ...placedExits,
    5: 'one like it was placed a short while ago, is in doubt, or was sent back; or the key or reference belongs to another order',
    6: 'the wallet cannot cover it',
    10: 'in doubt: sent, and no response came; `order journal resume` finds out',
    11: policyExit,
    130: declinedExit,
  },
  related: ['search', 'retailer check', 'order watch', 'order journal'],
  async run(context, input) {
    checkFollowing(input);
    await context.ready();
    return orderAssembled(context, await assembled(context, input), input);
  },
});

type Input = Parameters<typeof assembleOrder>[1] & { readonly like?: string };

/** Combines the flags with the payload of a file or an earlier order. A flag overrides the payload's value. */
async function assembled(context: Context, { like, ...input }: Input): Promise<Completed> {
  if (like === undefined) return assembleOrder(context, input);
  if (input.file !== undefined) throw new UsageError('--like and --file exclude each other; give one');
  const id = checkUuid('order id', like);
  const { payloadLines, readLike } = await import('../../orders/input/like.ts');
  const givesAddress = input.shipTo !== undefined || Object.keys(addressFields(input)).length > 0;
  const { fields: base, titleOf } = await readLike(context, id, input, givesAddress);
  const whole = await assembleOrder(context, input, { base });
  const lines = payloadLines(whole.payload, await shownTitles(context, titleOf));
  for (const line of [`like order ${id}:`, ...lines]) context.note(line);
  return whole;
}

/** Shows product titles instead of URLs on a TTY. A log gets the URLs. */
async function shownTitles(context: Context, received: TitleOf): Promise<TitleOf> {
  if (!context.io.stderr.isTerminal) return () => undefined;
  const { knownTitles } = await import('../../orders/products/pick.ts');
  const known = await knownTitles(context);
  return (url) => received(url) ?? known(url);
}
