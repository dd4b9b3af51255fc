import type { Operation } from '../../api/operation.ts';
import { operations } from '../../api/operations/index.ts';
import { checkShape } from '../../api/schemas/check.ts';
import type { Shape } from '../../api/schemas/index.ts';
import { issueText } from '../../api/validation.ts';
import { decideRows } from '../../bulk/needs/decide-rows.ts';
import { blockedRows, placedRows } from '../../bulk/needs/refused-rows.ts';
import { batchOfRequest } from '../../bulk/upload/batch.ts';
import { parseDocument } from '../../format/parse-document.ts';
import type { Target } from '../../http/request.ts';
import { pathParametersOf } from '../../http/request.ts';
import type { Attempt, AttemptClaim } from '../../journal/attempts.ts';
import { checkMetadata } from '../../orders/needs/options.ts';
import { firstKeyOf } from '../../orders/needs/row-key.ts';
import type { JournaledOperation, MadeBy, MadeRecord } from '../../orders/order-record.ts';
import { batchIntent, placeBatch } from '../../orders/place-batch.ts';
import { requestReturn } from '../../orders/place-return.ts';
import { confirmSpending, spendingLines } from '../../orders/spending-lines.ts';
import type { Made, Placing } from '../../orders/submit/intent.ts';
import { labelsOf } from '../../orders/submit/intent.ts';
import { placePaidOrder } from '../../orders/submit/paid.ts';
import { retryOrder } from '../../orders/submit/retry-order.ts';
import { placeOrder } from '../../orders/submit/submit.ts';
import { UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { previewedWith } from '../../run/request-preview.ts';
import { notePolicy } from '../../spending/policy-gate.ts';

interface Request extends GivenBody {
  readonly target: Target;
  readonly yes: boolean;
  readonly isNew: boolean;
}

/**
 * Sends a request to an operation that creates one record per intent. Journals, confirms and settles the request just
 * as the operation's own command does.
 * @throws UsageError for an invalid body; conflict for a repeated request.
 */
export async function sendByHand(context: Context, request: Request): Promise<MadeRecord> {
  const name = nameOf(request.target.operation);
  const { order: record, existed } = await placing[name](context, request);
  if (existed) context.note(`this ${labelsOf(name).one} existed already; nothing was ordered twice`);
  return record;
}

const placing: {
  readonly [N in JournaledOperation]: (context: Context, request: Request) => Promise<Made<MadeBy[N]>>;
} = {
  'order.create': async (context, request) => {
    const order = readShape('OrderCreate', 'order', request);
    checkMetadata(order, '`errand order create --reference` gives it');
    await context.ready();
    await confirmSpending(context, {
      yes: request.yes,
      question: 'Place this order with real money?',
      lines: () => spendingLines(context, order),
    });
    return placeOrder(context, order, placingOf(request));
  },
  'agent.order.create': (context, request) => {
    const order = readShape('OrderCreate', 'order', request);
    return placePaidOrder(context, order, { yes: request.yes, ...placingOf(request) });
  },
  'bulk.create': async (context, request) => {
    const upload = readShape('BulkUploadRequest', 'batch', request);
    await context.ready();
    await confirmRequest(context, request);
    const batch = batchOfRequest(upload, request);
    const policy = context.previewsRequests
      ? await notePolicy(context, [{ intent: await batchIntent(context, batch) }], placingOf(request))
      : undefined;
    const claim = await claimByHand(context, batch);
    const placed = await previewedWith(policy, () => placeBatch(context, batch, { claim }));
    const client = await context.client();
    const read = async () => (await client.call('bulk.get', { path: { batch_id: placed.id } })).body;
    return { order: placed.response ?? (await read()), existed: placed.existed };
  },
  'return.create': async (context, request) => {
    const body = readShape('ReturnRequestCreate', 'return', request);
    await context.ready();
    await confirmRequest(context, request);
    return requestReturn(context, body, placingOf(request));
  },
  'legacy.retry': async (context, request) => {
    const { target, body } = request;
    if (body !== undefined) throw new UsageError(`POST ${target.path} takes no body`);
    const { request_id: id = '' } = pathParametersOf(operations['legacy.retry'], target.path);
    await confirmRequest(context, request);
    return retryOrder(context, id, placingOf(request));
  },
};

/**
 * Claims the needs of a request's rows.
 * @returns undefined if the batch is already known. In that case the batch has been settled or reported.
 * @throws ErrandError conflict if any row was ordered before.
 */
async function claimByHand(
  context: Context,
  { filename, run, ...batch }: ReturnType<typeof batchOfRequest>,
): Promise<AttemptClaim | undefined> {
  const keys = new Set(batch.rows.map((row) => firstKeyOf(String(row.idempotency_key ?? ''))));
  const source = {
    batches: async function* () {
      yield batch;
    },
    isOfFile: ({ key }: Pick<Attempt, 'key'>) => keys.has(firstKeyOf(key)),
  };
  const decided = await decideRows(context, source, { door: 'upload', run });
  const { counts } = decided;
  if (decided.isBlocked) throw await blockedRows(context, decided, filename);
  if (counts.inDoubt === counts.rows) return undefined;
  if (counts.new === counts.rows) return decided.claimOf(batch);
  const known = (await context.journal()).find(batch.key, context.settings.baseUrl.value);
  const isOwn = batch.ownKeys?.length === batch.rows.length;
  if (known && known.order_id !== null && (isOwn || known.state === 'responded')) return undefined;
  throw await placedRows(context, decided, filename);
}

const placingOf = ({ isNew }: Request): Placing => ({ isNew, isByHand: true });

const isJournaled = (name: string): name is JournaledOperation => Object.hasOwn(placing, name);

function nameOf(operation: Operation | undefined): JournaledOperation {
  const [name = ''] = Object.entries(operations).find(([, row]) => row === operation) ?? [];
  if (isJournaled(name)) return name;
  throw new TypeError(`no journal for ${operation?.path}`);
}

/** Asks for confirmation of a request that has no detailed view, showing only its method and path. */
function confirmRequest(context: Context, { target, yes }: Request): Promise<void> {
  const { method, path, surface, operation } = target;
  return confirmSpending(context, {
    yes,
    surface,
    question: `Send ${method} ${path} with real money?`,
    lines: async () => [`  ${operation?.summary}`],
  });
}

const centFields = ['max_price'] as const satisfies readonly (keyof Shape<'OrderCreate'>)[];

const maxShown = 10;

/** Body of a request, and where the body came from. */
interface GivenBody {
  readonly body: Buffer | undefined;
  /** File given with `--input`; undefined if the body was built from fields. */
  readonly file: string | undefined;
}

/** @throws UsageError naming the source and each invalid field. */
function readShape<N extends 'OrderCreate' | 'BulkUploadRequest' | 'ReturnRequestCreate'>(
  shape: N,
  what: string,
  { body, file }: GivenBody,
): Shape<N> {
  const name = file === undefined ? 'the fields' : file === '-' ? 'stdin' : file;
  const checked = checkShape(shape, parseBody(name, body), 'body');
  if (!checked.issues) return checked.value;
  const shown = checked.issues.slice(0, maxShown).map((issue) => issueText(issue, name));
  const more = checked.issues.length - shown.length;
  const rest = more > 0 ? [`and ${more} more`] : [];
  throw new UsageError(`${name}: not a valid ${what}: ${[...shown, ...rest].join('; ')}`, {
    code: 'validation_error',
    details: { detail: checked.issues },
  });
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
