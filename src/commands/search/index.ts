import { defineRootCommand } from '../../cli/define.ts';
import { listings, priceBounds, searchOptions, wordsArgument } from '../../orders/products/search.ts';
import { UsageError } from '../../platform/errors.ts';
import { shellLine } from '../../platform/shell.ts';
import type { Context } from '../../run/context.ts';
import { whereFlags } from '../../run/context-flags.ts';
import { policyExit } from '../../spending/options.ts';

export const command = defineRootCommand({
  arguments: [wordsArgument],
  options: {
    ...searchOptions,
    pick: { kind: 'flag', description: 'pick one of the results on a terminal, and order it' },
  },
  examples: [
    {
      command: "errand search coffee --max-price '$30' --sort price_asc --limit 5",
      note: 'the five cheapest under $30',
    },
    { command: 'errand search usb cable --limit 1 -o json --query [0].url', note: 'a URL to order' },
  ],
  output: [{ list: 'search' }, { record: 'order.create', when: 'with --pick' }],
  operations: ['search', 'order.create'],
  exitCodes: {
    6: 'the wallet cannot cover it',
    10: 'with --pick: in doubt: sent, and no response came; `order journal resume` finds out',
    11: `with --pick: ${policyExit}`,
  },
  readsOnly: ({ pick }) => pick !== true,
  related: ['retailer check', 'order create'],
  async run(context, { words, minPrice, maxPrice, pick = false, ...rest }) {
    const q = words.join(' ');
    if (pick) checkPick(context, q);
    const client = await context.client();
    const { body } = await client.call('search', {
      query: { q, ...priceBounds({ minPrice, maxPrice }), ...rest },
    });
    if (!pick) return listings(q, body);
    const { pickAndOrder } = await import('../../cli/orders/pick-and-order.ts');
    return pickAndOrder(context, q, body);
  },
});

/** @throws UsageError if no prompt is possible, suggesting non-interactive commands. */
function checkPick(context: Context, words: string): void {
  if (context.interactive.yes) return;
  const where = whereFlags(context);
  throw new UsageError(`--pick asks which product to order; cannot prompt, as ${context.interactive.why}`, {
    next: [
      { command: `${shellLine`errand search ${words} -o id`}${where}`, when: 'to print the URLs' },
      {
        command: `errand order create --product 'https://…' --max-price '$50.00' --ship-to home${where}`,
        when: 'to order one of them',
      },
    ],
  });
}
