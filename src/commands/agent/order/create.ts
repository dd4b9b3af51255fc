import { defineCommand } from '../../../cli/define.ts';
import {
  checkFollowing,
  createdOutput,
  createdResult,
  placedExits,
  watchOptions,
} from '../../../cli/orders/created.ts';
import { assembleOrder, orderInputOptions } from '../../../orders/input/assemble.ts';
import { withFileReference } from '../../../orders/input/file-reference.ts';
import { referenceOptions } from '../../../orders/needs/options.ts';
import { placePaidOrder } from '../../../orders/submit/paid.ts';
import { consentOf, declinedExit, policyExit, policyOptions } from '../../../spending/options.ts';
import { paymentExit, paymentFrom, payOptions } from '../pay-options.ts';

export const create = defineCommand({
  name: 'create',
  summary: 'Place an order without an account, paid for as it is placed',
  description:
    'The ceiling and a fee of $1.00 are paid up front, the difference comes back. The payment is written to the journal before it is sent, so an order without a response is resumed with the same payment and never paid twice. The key that reads the order is kept with it.',
  options: {
    ...orderInputOptions,
    ...watchOptions,
    ...policyOptions,
    ...referenceOptions,
    reference: {
      ...referenceOptions.reference,
      description:
        'your own name for this order, such as a requisition: it is bought once by all that share this journal or its database; no list shows it to others',
    },
    new: {
      kind: 'flag',
      description: 'pay for another order, even if the same order was just placed or is in doubt',
    },
    ...payOptions,
  },
  positional: 'product',
  examples: [
    {
      command: "errand agent order create --product $URL --max-price '$50.00' --ship-to home --watch",
      note: 'pay, order, and watch it until delivered',
    },
    {
      command: "errand agent order create --file order.json --max-pay '$100.00' -o json --query id",
      note: 'from a file, paying no more than that',
    },
    {
      command: 'errand agent order create --file order.json --reference REQ-00006 -o json --query id',
      note: 'for a script: bought once, however often it runs on this machine',
    },
    {
      command: 'errand agent order create --file order.json --dry-run',
      note: 'the request before it is paid, not sent',
    },
  ],
  output: createdOutput,
  operations: ['agent.order.create', 'order.get'],
  exitCodes: {
    ...placedExits,
    5: 'it was ordered before, or the reference or the idempotency key has another order',
    6: paymentExit,
    10: 'in doubt: paid, and no response came; `order journal resume` finds out',
    11: policyExit,
    130: declinedExit,
  },
  related: ['order watch', 'order get', 'order journal'],
  async run(context, input) {
    checkFollowing(input);
    const { payload, argv, ofFile } = await assembleOrder(context, input, { searches: false });
    const { checkOrder, inUsersWords } = await import('../../../orders/input/check.ts');
    const body = await checkOrder(payload, input.file);
    const { referenceFrom } = await import('../../../orders/needs/options.ts');
    const reference = referenceFrom({ ...input, ...withFileReference(input, ofFile) }, body);
    const { order, existed } = await inUsersWords(input.file, () =>
      placePaidOrder({ ...context, argv }, body, {
        ...paymentFrom(input),
        ...{ isNew: input.new === true, again: input.again === true, reference },
        ...consentOf(input),
      }),
    );
    if (existed) context.note('this order existed already; nothing was paid twice');
    return createdResult(context, order, input);
  },
});
