import type { PlantedFault } from './fault.ts';

const sandbox: readonly PlantedFault[] = [
  {
    name: 'an order is placed one cent over its ceiling',
    file: 'src/sandbox/orders/lifecycle/verdict.ts',
    from: 'chargedCents(price) > record.max_price ||',
    to: 'chargedCents(price) > record.max_price + 1 ||',
    caughtBy: ['test/unit/sandbox/orders/lifecycle/price.test.ts'],
  },
  {
    name: 'the same key makes a second order',
    file: 'src/sandbox/orders/create.ts',
    from: "if (!row) return;\n  throw new ErrorResponse('already_exists'",
    to: "if (!row || row.id) return;\n  throw new ErrorResponse('already_exists'",
    caughtBy: ['test/service/operations/orders.test.ts'],
  },
  {
    name: 'a placed order can be cancelled',
    file: 'src/sandbox/orders/lifecycle/advance.ts',
    from: 'return cancellableOrderStatuses.some((status) => status === record.status);',
    to: "return record.status === 'order_placed' || cancellableOrderStatuses.some((status) => status === record.status);",
    caughtBy: ['test/service/operations/orders.test.ts'],
  },
  {
    name: 'a total leaves the shipping out',
    file: 'src/sandbox/orders/lifecycle/payment.ts',
    from: 'const total = sum([subtotal, shipping]);',
    to: 'const total = sum([subtotal]);',
    caughtBy: ['test/unit/sandbox/orders/lifecycle/price.test.ts'],
  },
  {
    name: 'the wallet stays reserved after an order failed',
    file: 'src/sandbox/orders/settle.ts',
    from: 'reserve(store, order.userId, -reserved);',
    to: '',
    caughtBy: ['test/unit/sandbox/all-money.test.ts'],
  },
  {
    name: 'more is returned than was bought',
    file: 'src/sandbox/returns/create.ts',
    from: 'if (quantity <= bought - returned) return;',
    to: 'if (quantity <= bought) return;',
    caughtBy: ['test/service/operations/returns.test.ts'],
  },
  {
    name: "one user's return is shown to another",
    file: 'src/sandbox/returns/records.ts',
    from: '(userId === null || row.user_id === userId)',
    to: '(userId === null || row.user_id !== null)',
    caughtBy: ['test/service/operations/returns.test.ts'],
  },
  {
    name: 'a filtered list of orders is oldest first',
    file: 'src/sandbox/orders/handlers.ts',
    from: 'ORDER BY created_at DESC, seq DESC`',
    to: 'ORDER BY created_at, seq`',
    caughtBy: ['test/service/operations/list.test.ts'],
  },
  {
    name: 'a webhook is tried again for two days',
    file: 'src/sandbox/webhooks/outbox.ts',
    from: 'const dayMs = 24 *',
    to: 'const dayMs = 48 *',
    caughtBy: ['test/unit/sandbox/webhooks/backoff.test.ts'],
  },
  {
    name: 'a webhook is delivered to an address of the private network',
    file: 'src/sandbox/webhooks/address.ts',
    from: "(found === 'public' || (found === 'private' && isNamed))",
    to: "(found === 'public' || found === 'private' || isNamed)",
    caughtBy: ['test/unit/sandbox/webhooks/address.test.ts'],
  },
];

const pages: readonly PlantedFault[] = [
  {
    name: 'a quote in a text breaks out of an attribute',
    file: 'src/platform/html.ts',
    from: `text.replace(unseen, '\\ufffd').replace(/[&<>"']/g`,
    to: `text.replace(unseen, '\\ufffd').replace(/[&<>]/g`,
    caughtBy: ['test/service/console/hostile.test.ts'],
  },
  {
    name: 'a form of another site is taken',
    file: 'src/sandbox/console/form-action.ts',
    from: "if (site !== 'same-origin' && site !== 'none') return false;",
    to: "if (site !== 'same-origin' && site !== 'none' && site !== 'cross-site') return false;",
    caughtBy: ['test/service/console/guard.test.ts'],
  },
  {
    name: 'the underline of a link hides underscores',
    file: 'src/sandbox/console/assets/style.css',
    from: 'tracking_updated. */\n  text-underline-offset: 0.3em;',
    to: 'tracking_updated. */\n  text-underline-offset: 0.15em;',
    caughtBy: ['test/browser/pages.test.ts'],
  },
  {
    name: 'a printed table is cut at the sheet',
    file: 'src/format/page/page.ts',
    from: 'min-width:0!important}',
    to: '}',
    caughtBy: ['test/browser/one-page.test.ts'],
  },
  {
    name: 'what an order held stays held in its feed',
    file: 'src/sandbox/console/timeline.ts',
    from: '...(end ? [release(',
    to: '...(end === null ? [release(',
    caughtBy: ['test/service/console/feed.test.ts'],
  },
  {
    name: 'the next page begins with the last row of the one before',
    file: 'src/sandbox/console/lists.ts',
    from: 'before: String(numberOf(last))',
    to: 'before: String(numberOf(last) + 1)',
    caughtBy: ['test/service/console/lists.test.ts'],
  },
];

/** Faults in the sandbox and its pages. */
export const serviceFaults: readonly PlantedFault[] = [...sandbox, ...pages];
