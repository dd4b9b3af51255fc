import type { Context } from '../../context.ts';
import { errorCodes } from '../../contract/error-codes.ts';
import { objectsIn } from '../../contract/json.ts';
import { uuidPattern } from '../../contract/limits.ts';
import type { Shape } from '../../contract/schemas/index.ts';
import { ErrandError } from '../../errors.ts';
import type { Client } from '../../http/client.ts';
import type { Received } from '../../http/client-types.ts';
import { plainText } from '../../output/path.ts';
import { shellLine, shellWord } from '../../shell-word.ts';
import { whereFlags } from '../../where-flags.ts';

type Body = Shape<'ReturnRequestCreate'>;
type ReturnRecord = Received<'return.get'> | Received<'return.create'>;

interface Requested {
  readonly record: ReturnRecord;
  /** Set when the return had been asked for before. */
  readonly existed: boolean;
}

/**
 * Asks for a return. While one of the same items is open the service makes no second one, so that a repeated request
 * is safe: the open one is given back where it is what was asked for.
 * @throws ErrandError: conflict with the differences where it is another; in_doubt when no answer came.
 */
export async function requestReturn(context: Context, body: Body): Promise<Requested> {
  const client = await context.client();
  try {
    return { record: (await client.call('return.create', { body })).body, existed: false };
  } catch (error) {
    if (!(error instanceof ErrandError)) throw error;
    if (error.facts.status === errorCodes.already_exists.status)
      return { record: await readExisting(client, body, error), existed: true };
    throw error.facts.outcome === 'unknown' ? inDoubt(context, body, error) : error;
  }
}

async function readExisting(client: Client, body: Body, refusal: ErrandError): Promise<ReturnRecord> {
  const id: unknown = Object(refusal.facts.details).identifier;
  if (typeof id !== 'string' || !uuidPattern.test(id)) throw refusal;
  const { body: existing } = await client.call('return.get', { path: { return_request_id: id } });
  const differing = differences(body, existing);
  if (differing.length === 0) return existing;
  throw new ErrandError('conflict', `another return of these items is open, ${id}: ${differing.join('; ')}`, {
    ...refusal.facts,
    hint: 'Items can be in one open return at a time.',
    next: [{ command: shellLine`errand return get ${id}`, when: 'to see the return that is open' }],
  });
}

/** What was asked for and is otherwise in the return that exists. */
function differences(asked: Body, existing: ReturnRecord): string[] {
  const wanted = factsOf(asked);
  const there = factsOf(existing);
  return facts
    .filter((fact) => wanted[fact] !== there[fact])
    .map((fact) => `${fact} asked ${wanted[fact]}, is ${there[fact]}`);
}

const facts = ['order', 'reason', 'items'] as const;

const factsOf = (record: Body | ReturnRecord): Readonly<Record<(typeof facts)[number], string>> => ({
  order: plainText(record.order_id).toLowerCase(),
  reason: plainText(record.reason),
  items: objectsIn(record, 'items')
    .map(({ order_item_id: id, quantity }) => `${plainText(id).toLowerCase()}=${plainText(quantity)}`)
    .toSorted()
    .join(', '),
});

/** The return may exist. Interruption keeps its own exit code; everything else is exit 10. */
function inDoubt(context: Context, { order_id }: Body, error: ErrandError): ErrandError {
  const stopped = error.category === 'interrupted' || error.category === 'terminated';
  return new ErrandError(
    stopped ? error.category : 'in_doubt',
    `in doubt: the return was sent and no answer came (${error.message})`,
    {
      ...error.facts,
      outcome: 'unknown',
      retryable: true,
      cause: error,
      hint: 'Asking again is safe: items can be in one open return at a time.',
      next: [
        {
          command: shellLine`errand return list --search ${order_id}` + whereFlags(context),
          when: 'to see whether it was made',
        },
        { command: ['errand', ...context.argv.map(shellWord)].join(' '), when: 'to ask again' },
      ],
    },
  );
}
