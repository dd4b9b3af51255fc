import { randomUUID } from 'node:crypto';
import { parseDocument } from '../../cli/parse-document.ts';
import type { Context } from '../../context.ts';
import { checkShape } from '../../contract/schemas/check.ts';
import type { Shape } from '../../contract/schemas/index.ts';
import { UsageError } from '../../errors.ts';
import { confirmSpending } from '../../orders/confirm-spending.ts';
import type { OrderRecord } from '../../orders/order-record.ts';
import { placeOrder } from '../../orders/place.ts';
import { spendingLines } from '../../orders/spending-lines.ts';
import { shellWord } from '../../shell-word.ts';

const centFields = ['max_price'] as const satisfies readonly (keyof Shape<'OrderCreate'>)[];

interface RequestedOrder {
  readonly body: Buffer | undefined;
  /** The file of `--input`; undefined where fields made the body. */
  readonly file: string | undefined;
  readonly yes: boolean;
}

/**
 * Places an order that was written as a request: it is journaled, confirmed and settled as `order create` does, so that
 * one intent ends as one order.
 * @throws UsageError for a body that is no order, and for one without a key to find the order again by.
 */
export async function orderByHand(
  context: Context,
  { body, file, yes }: RequestedOrder,
): Promise<OrderRecord> {
  const name = file === undefined ? 'the fields' : file === '-' ? 'stdin' : file;
  const payload = parseBody(name, body);
  if (!hasKey(payload)) throw keyless(context, file);
  const checked = checkShape('OrderCreate', payload, 'body');
  if (!checked.value) {
    const lines = checked.issues.map(({ loc, msg }) => `${loc.slice(1).join('.') || name}: ${msg}`);
    throw new UsageError(`no valid order in ${name}:\n  ${lines.join('\n  ')}`, {
      code: 'validation_error',
      details: { detail: checked.issues },
    });
  }
  await context.ready();
  const order = checked.value;
  await confirmSpending(context, {
    yes,
    question: 'Place this order with real money?',
    lines: () => spendingLines(context, order),
  });
  const { order: placed, existed } = await placeOrder(context, order, { isNew: false });
  if (existed) context.note('this order existed already; nothing was ordered twice');
  return placed;
}

function parseBody(name: string, body: Buffer | undefined): unknown {
  const text = body?.toString('utf8') ?? '{}';
  try {
    JSON.parse(text);
  } catch (cause) {
    throw new UsageError(`${name} is not JSON: ${cause instanceof Error ? cause.message : ''}`, { cause });
  }
  return parseDocument(name, text, true, centFields);
}

const hasKey = (payload: unknown): boolean =>
  typeof payload === 'object' &&
  payload !== null &&
  'idempotency_key' in payload &&
  typeof payload.idempotency_key === 'string' &&
  payload.idempotency_key !== '';

/** Without a key an order whose answer is lost could not be told from a second one. */
function keyless({ argv }: Context, file: string | undefined): UsageError {
  const again = ['errand', ...argv.map(shellWord), '-f', `idempotency_key=${randomUUID()}`].join(' ');
  return new UsageError(
    'an order moves money: without an idempotency_key in its body it cannot be sent safely',
    {
      hint: 'Add an idempotency_key of its own to the body, or let `errand order create` make one.',
      next:
        file === undefined
          ? [{ command: again, when: 'to send it with a key' }]
          : [
              {
                command: `errand order create --file ${shellWord(file)}`,
                when: 'to order what the file says',
              },
            ],
    },
  );
}
