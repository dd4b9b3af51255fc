import { defineRootCommand } from '../../cli/define.ts';
import type { Context } from '../../context.ts';
import { operations } from '../../contract/operations/index.ts';
import { UsageError } from '../../errors.ts';
import type { RawRequest } from '../../http/raw.ts';
import { readTarget, type Target } from '../../http/request-target.ts';
import { confirmSpending } from '../../orders/confirm-spending.ts';
import { showAnswer, showJson } from './answer.ts';
import { tellHead } from './head.ts';
import { readHeaders } from './headers.ts';
import { everyRow } from './paginate.ts';
import { readPayload, sendsSomething } from './payload.ts';

export const command = defineRootCommand({
  description:
    'With the key, retries, errors and exit codes of the other commands. The answer is shown as JSON; -o table, csv, tsv and id show the records of a list. An answer that is not JSON is passed as it is. Fields make a JSON body, or the query of a GET: -f as text, -F typed (true, false, null, whole numbers, @file, @- for stdin); key[sub]=value makes objects, key[]=value lists. Paths of the legacy service go to its own address.',
  arguments: [
    { name: 'method', description: 'left out, GET, or POST where something is sent', required: true },
    { name: 'path', description: 'under the base URL: /orders?limit=5' },
  ],
  options: {
    rawField: { kind: 'texts', short: 'f', placeholder: 'key=text', description: 'a field, as text' },
    field: { kind: 'texts', short: 'F', placeholder: 'key=value', description: 'a field, typed' },
    bodyFrom: {
      kind: 'text',
      flag: '--input',
      placeholder: 'file|-',
      completes: 'files',
      description: 'the body as it is; fields then go into the query',
    },
    header: { kind: 'texts', short: 'H', placeholder: "'Name: value'", description: 'a header' },
    paginate: { kind: 'flag', description: 'every page of a list, as one list' },
    include: { kind: 'flag', short: 'i', description: 'status and headers of a good answer, on stderr' },
    yes: { kind: 'flag', description: 'spend with a live key without being asked' },
  },
  examples: [
    { command: 'errand api GET /orders -F limit=5', note: 'a GET; the field goes into the query' },
    { command: 'errand api /orders --paginate -o ndjson --fields id,status', note: 'every page of a list' },
    { command: 'errand api POST /orders --input keyed-order.json', note: 'an order, through the journal' },
    { command: "errand api /sandbox/keys -f 'note=for a test' --dry-run", note: 'a POST, not sent' },
  ],
  anyOperation: true,
  defaultFormat: 'json',
  exitCodes: { 10: 'in doubt: sent, and no answer came' },
  related: ['schema', 'order create', 'help output'],
  async run(context, { method, path, header = [], paginate, include, yes = false, ...given }) {
    const { baseUrl, legacyBaseUrl } = context.settings;
    const bases = { base: baseUrl.value, legacyBase: legacyBaseUrl.value };
    const target = readTarget([method, path], sendsSomething(given), bases);
    const headers = readHeaders(header);
    const { query, body } = await readPayload(context, target.method, given);
    const toTerminal = context.io.stdout.isTerminal;
    if (target.operation === operations['order.create']) {
      refuseBeside(target, { '-H': header.length > 0, '-i': include, '--paginate': paginate });
      const { orderByHand } = await import('./order.ts');
      const order = await orderByHand(context, { body, file: given.bodyFrom, yes });
      return showJson(order, target.operation, context.output);
    }
    await confirm(context, target, yes);
    const request: RawRequest = { ...target, query, headers, body };
    const client = await context.client();
    if (paginate) return everyRow(context, client, target, request);
    const answer = await client.raw(request);
    if (include) tellHead(context, answer);
    return showAnswer(answer, target.operation, context.output, toTerminal);
  },
});

/** What goes through the journal is sent by it: nothing else of the request is left to choose. */
function refuseBeside({ path }: Target, flags: Readonly<Record<string, boolean | undefined>>): void {
  const [flag] =
    Object.entries(flags).find(([, isGiven]) => isGiven) ?? (path.includes('?') ? ['a query'] : []);
  if (flag !== undefined)
    throw new UsageError(
      `${flag} does not apply to an order, which goes through the journal as by \`errand order create\``,
    );
}

/** Anything else that moves money is asked about without details: only its path is known. */
async function confirm(
  context: Context,
  { method, path, surface, operation }: Target,
  yes: boolean,
): Promise<void> {
  if (operation?.movesMoney !== true || operation.auth === 'payment') return;
  await confirmSpending(context, {
    yes,
    surface,
    question: `Send ${method} ${path} with real money?`,
    lines: async () => [`  ${operation.summary}`],
  });
}
