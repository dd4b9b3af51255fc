import { defineCommand } from '../../cli/define.ts';
import { checkFollowing, placedExits, watchOptions } from '../../orders/created.ts';
import { assembleOrder, orderInputOptions } from '../../orders/input/assemble.ts';
import { orderAssembled } from '../../orders/order-assembled.ts';
import { policyExit, policyOptions } from '../../spending/options.ts';

export const create = defineCommand({
  name: 'create',
  summary: 'Place an order for product URLs under a price ceiling',
  description:
    'From flags, a JSON or YAML file, stdin, or prompts. The order is written to the journal before it is sent, so that one intent ends as one order.',
  options: {
    ...orderInputOptions,
    ...watchOptions,
    ...policyOptions,
    yes: { kind: 'flag', description: 'spend with a live key without confirmation' },
    new: {
      kind: 'flag',
      description: 'another order on purpose, though the same was placed a short while ago or is in doubt',
    },
  },
  examples: [
    {
      command: "errand order create --product $URL --max-price '$50.00' --ship-to home --watch",
      note: 'order, and watch it until delivered',
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
    ...placedExits,
    6: 'the wallet cannot cover it',
    10: 'in doubt: sent, and no response came; `order journal resume` finds out',
    11: policyExit,
  },
  related: ['search', 'retailer check', 'order watch', 'order journal'],
  async run(context, input) {
    checkFollowing(input);
    await context.ready();
    return orderAssembled(context, await assembleOrder(context, input), input);
  },
});
