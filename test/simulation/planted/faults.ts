import type { SimulatedFault } from './fault.ts';

/** What the journal keeps, and for how long. */
const journal: readonly SimulatedFault[] = [
  {
    name: 'the journal is written without a sync',
    file: 'src/platform/sqlite/database.ts',
    from: 'PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON',
    to: 'PRAGMA synchronous = OFF; PRAGMA foreign_keys = ON',
    seed: 13,
  },
  {
    name: 'an attempt is recorded in a transaction after that of its intent',
    file: 'src/journal/journal.ts',
    from: 'persistAttempts?.();',
    to: 'if (persistAttempts) setImmediate(() => this.database.transaction(persistAttempts).catch(() => {}));',
    seed: 21,
  },
  {
    name: 'an entry of the audit chain does not hold the hash of the one before',
    file: 'src/journal/audit.ts',
    from: 'previous: head?.hash ?? firstPrevious,',
    to: 'previous: head ? firstPrevious : firstPrevious,',
    seed: 1,
  },
  {
    name: 'a process that has died counts as at work',
    file: 'src/journal/owner.ts',
    from: "if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return false;",
    to: "if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return true;",
    seed: 5,
  },
  {
    name: 'the order of somebody else counts as alike',
    file: 'src/journal/attempts.ts',
    from: 'needNumbers(secret: string, { products, recipient }: NeedContent)',
    to: "needNumbers(secret: string, { products }: NeedContent, recipient = '')",
    seed: 12,
  },
  {
    name: 'a number is left out of the audit chain',
    file: 'src/journal/audit.ts',
    from: 'number: (head?.number ?? 0) + 1,',
    to: 'number: (head?.number ?? 0) + (head ? 2 : 1),',
    seed: 1,
  },
];

/** What counts as the same. */
const spelling: readonly SimulatedFault[] = [
  {
    name: 'the address of a page keeps what tracks its reader',
    file: 'src/format/canonical-product.ts',
    from: "const trackingPrefixes = ['utm_', ",
    to: 'const trackingPrefixes = [',
    seed: 10,
  },
  {
    name: 'a page with a slash at its end is another',
    file: 'src/format/canonical-product.ts',
    from: "const path = trimSlashes(plainPath(pathname).replace(trackingPath, ''));",
    to: "const path = plainPath(pathname).replace(trackingPath, '');",
    seed: 8,
  },
  {
    name: 'a name without its accents is another',
    file: 'src/format/folded.ts',
    from: ".replace(accents, '')",
    to: '',
    seed: 13,
  },
  {
    name: 'Unit 4 is another place than Apt 4',
    file: 'src/format/canonical-recipient.ts',
    from: "new Set(['APT', 'UNIT', ",
    to: "new Set(['APT', ",
    seed: 8,
  },
  {
    name: 'a ZIP code with its four further digits is another',
    file: 'src/format/canonical-recipient.ts',
    from: "return code.replace(/^(\\d{5})\\d{4}$/, '$1');",
    to: 'return code;',
    seed: 8,
  },
  {
    name: 'a name in capitals is another',
    file: 'src/format/canonical-recipient.ts',
    from: 'if (isPlain.test(word)) return word.toUpperCase();',
    to: 'if (isPlain.test(word)) return word;',
    seed: 3,
  },
  {
    name: 'North is another place than N.',
    file: 'src/format/canonical-recipient.ts',
    from: "NORTH: 'N', ",
    to: '',
    seed: 10,
  },
  {
    name: 'a place within a page makes it another',
    file: 'src/format/canonical-product.ts',
    from: 'route.test(hash) ?',
    to: "hash !== '' ?",
    seed: 14,
  },
  {
    name: 'the mark of a click makes a page another',
    file: 'src/format/canonical-product.ts',
    from: "    'gclid',",
    to: "    'gclid_',",
    seed: 3,
  },
  {
    name: 'Street is another place than St',
    file: 'src/format/canonical-recipient.ts',
    from: "STREET: 'ST',",
    to: "STREET: 'STREET',",
    seed: 10,
  },
];

/** Limits, and what orders have cost. */
const money: readonly SimulatedFault[] = [
  {
    name: 'the fee of a placed order is charged twice',
    file: 'src/spending/money-of-order.ts',
    from: "basis: 'by_rule', what, note }, fee);",
    to: "basis: 'by_rule', what, note }, stage === 'placed' ? fee && 2 * fee : fee);",
    seed: 1,
  },
  {
    name: 'an order that was cancelled still holds its ceiling',
    file: 'src/spending/money-of-order.ts',
    from: "if (stage === 'open' && payer === 'wallet')",
    to: "if (stage !== 'placed' && payer === 'wallet')",
    seed: 3,
  },
  {
    name: 'an order that failed costs its fee',
    file: 'src/spending/money-of-order.ts',
    from: 'feeNotes[stage]] as const;',
    to: "feeNotes[stage === 'nothing' ? 'undone' : stage]] as const;",
    seed: 1,
  },
  {
    name: 'what was ordered elsewhere is left out of its sum',
    file: 'src/spending/reconcile/reconcile.ts',
    from: 'const otherSums = sumsOf(others.flatMap(',
    to: 'const otherSums = sumsOf(others.slice(1).flatMap(',
    seed: 1,
  },
  {
    name: 'the rows of a file do not count towards a limit',
    file: 'src/spending/policy/verdict.ts',
    from: 'if (!isOver) used += cents;',
    to: '',
    seed: 6,
  },
  {
    name: 'what is reserved for earlier orders does not count towards a limit',
    file: 'src/spending/policy/verdict.ts',
    from: 'const isOver = cents > limit.max - used;',
    to: 'const isOver = cents > limit.max - 0 * used;',
    seed: 6,
  },
  {
    name: 'an order is recorded without its reservation',
    file: 'src/journal/journal.ts',
    from: 'const claimed = reserving && this.#reserve(',
    to: 'const claimed = reserving && !claim && this.#reserve(',
    seed: 8,
  },
  {
    name: 'a placed order counts with its ceiling',
    file: 'src/journal/reservations.ts',
    from: "this.#write({ ...known, state: 'settled', counted: costCents })",
    to: "this.#write({ ...known, state: 'settled' })",
    seed: 17,
  },
];

/** Rows of files. */
const rows: readonly SimulatedFault[] = [
  {
    name: "a row's order is told as that of another",
    file: 'src/bulk/needs/batch-outcome.ts',
    from: 'const attempt = latest[row.index];',
    to: 'const attempt = latest[latest.length - 1 - row.index];',
    seed: 3,
  },
];

/** What is sent, and what a response means. */
const sending: readonly SimulatedFault[] = [
  {
    name: 'a second send has a key of its own',
    file: 'src/orders/submit/send.ts',
    from: 'await create(client, body, await heldCall(context, intent))',
    to: "await create(client, sending === 'again' ? { ...body, idempotency_key: [...intent.key].reverse().join('') } : body, await heldCall(context, intent))",
    seed: 12,
  },
  {
    name: 'a response that is lost counts as a request that was not sent',
    file: 'src/http/service-error.ts',
    from: "if (!response) return failure?.sent !== 'not_sent';",
    to: 'if (!response) return failure === undefined;',
    seed: 7,
  },
  {
    name: 'every attempt for a reference has one key',
    file: 'src/orders/needs/reference.ts',
    from: "sha256(JSON.stringify(['errand-need-1', namespace, text, number])).slice(",
    to: "sha256(JSON.stringify(['errand-need-1', namespace, text, number && 1])).slice(",
    seed: 1,
  },
  {
    name: 'what is unknown of a first send counts as its refusal',
    file: 'src/orders/doubt.ts',
    from: "outcome === 'not_sent' || outcome === 'rejected';",
    to: "outcome !== 'applied';",
    seed: 17,
  },
];

/** What is said. */
const words: readonly SimulatedFault[] = [
  {
    name: 'an order in doubt ends with exit 0',
    file: 'src/platform/errors.ts',
    from: 'in_doubt: 10,',
    to: 'in_doubt: 0,',
    seed: 12,
  },
  {
    name: 'a program is told that its new order existed',
    file: 'src/integrations/sdk/place.ts',
    from: 'return { order: order as OrderResponse, existed, notes };',
    to: 'return { order: order as OrderResponse, existed: existed || true, notes };',
    seed: 3,
  },
  {
    name: 'an agent is told that its new order existed',
    file: 'src/integrations/mcp/tools/place.ts',
    from: 'const recordOf = ({ order, existed }: Placed) => ({ order, existed });',
    to: 'const recordOf = ({ order, existed }: Placed) => ({ order, existed: existed || true });',
    seed: 13,
  },
  {
    name: 'a command says of its new order that it existed',
    file: 'src/cli/orders/created.ts',
    from: "if (existed) context.note('this order existed already",
    to: "if (existed || true) context.note('this order existed already",
    seed: 1,
  },
];

/** Whether a need is met. */
const needs: readonly SimulatedFault[] = [
  {
    name: 'the decision about an order is not repeated where it is recorded',
    file: 'src/orders/needs/decide-with-service.ts',
    from: 'return isSame ? attempt(repeated.number) : undefined;',
    to: "return isSame || decision.do === 'send' ? attempt(Object(decision).number) : undefined;",
    seed: 21,
  },
  {
    name: 'an order that failed counts as placed',
    file: 'src/orders/needs/outcome.ts',
    from: "case 'order_failed':\n    case 'cancelled_by_retailer':",
    to: "case 'cancelled_by_retailer':",
    seed: 1,
  },
  {
    name: 'an order that was cancelled counts as failed',
    file: 'src/orders/needs/outcome.ts',
    from: "return 'cancelled';",
    to: "return 'failed';",
    seed: 27,
  },
  {
    name: 'what a list does not show yet counts as gone',
    file: 'src/orders/needs/decide-with-service.ts',
    from: 'await attempts.change(changes);\n  return [...changes.map(',
    to: "const [all = []] = await attempts.related(scope, [need]);\n  const gone = all.filter(({ orderId }) => orderId !== undefined && !orders.some(({ order }) => order.id === orderId));\n  await attempts.change([...changes, ...gone.map(({ serial }) => ({ serial, state: 'unsent' as const }))]);\n  return [...changes.map(",
    seed: 5,
  },
  {
    name: 'orders that were made elsewhere are not heeded',
    file: 'src/orders/needs/decide-with-service.ts',
    from: 'for (const serial of await recordSeen(sources, need, listed)) read.add(serial);',
    to: '',
    seed: 2,
  },
  {
    name: 'what is known of an order counts without a look',
    file: 'src/orders/needs/decide.ts',
    from: "(one) => ['intended', 'unknown', 'placed'].includes(one.state) && !isFresh(request, one),",
    to: "(one) => ['intended', 'unknown'].includes(one.state) && !isFresh(request, one),",
    seed: 4,
  },
  {
    name: 'an order in doubt does not stand in the way',
    file: 'src/orders/needs/decide.ts',
    from: "if (inDoubt.length > 0) return refuse('in_doubt', inDoubt);",
    to: '',
    seed: 3,
  },
  {
    name: 'an order counts as placed before it is sent',
    file: 'src/orders/needs/place-once.ts',
    from: "  state: 'intended',\n});",
    to: "  state: 'placed',\n});",
    seed: 19,
  },
];

/** Faults of the program, each of which a simulation finds within a minute. */
export const simulatedFaults: readonly SimulatedFault[] = [
  ...journal,
  ...spelling,
  ...money,
  ...rows,
  ...sending,
  ...words,
  ...needs,
];
