import { isPlainPath, isRead } from '../../api/operations/find.ts';
import { defineRootCommand } from '../../cli/define.ts';
import { type RawRequest, readTarget, type Target } from '../../http/request.ts';
import { ErrandError, UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { policyExit } from '../../spending/options.ts';
import { loadPolicy } from '../../spending/policy/load.ts';
import { readHeaders, readPayload, reportHead, sendsSomething } from './payload.ts';
import { everyRow, showJson, showResponse } from './response.ts';

/**
 * Allows a write only on the exact path of a known operation. A gateway might route another spelling of the path to the
 * order endpoint, which would bypass the journal and the policy. A read may use any path, because it changes nothing.
 * @throws UsageError for a write to an unknown path, unless `allowed`; ErrandError policy if a policy is active.
 */
async function checkWrite(
  context: Context,
  { method, path: given, surface, operation }: Target,
  allowed: boolean,
): Promise<void> {
  if (isRead(method)) return;
  const { baseUrl, legacyBaseUrl } = context.settings;
  const base = surface === 'legacy' ? legacyBaseUrl.value : baseUrl.value;
  if (!/^(?:\/[\w.~-]+)*\/*$/.test(new URL(base).pathname))
    throw new UsageError(`the path of the base URL ${base} is not plain: ${plainRule}`);
  if (operation) return;
  const [path = ''] = given.split('?', 1);
  const unknown = `${method} ${path} is no operation of the service`;
  const policy = await loadPolicy(context);
  if (policy) {
    throw new ErrandError('policy', `${unknown}, and a policy holds (${policy.file}); nothing was sent`, {
      code: 'unknown_path',
      outcome: 'not_sent',
      retryable: false,
      hint: 'No policy can judge such a request, so it is not sent where there is one, not even with --unknown-path.',
      next: steps,
    });
  }
  if (!isPlainPath(path))
    throw new UsageError(`${unknown}, and not a plain path: ${plainRule}`, { next: steps });
  if (allowed) return;
  throw new UsageError(`${unknown}, so neither the journal nor an audit sees what it does`, {
    hint: 'If it cannot place an order, add --unknown-path.',
    next: steps,
  });
}

const plainRule = 'a write takes letters, digits, "-", "_" and "~" between single slashes';

const steps = [{ command: 'errand schema operations', when: 'to see what there is' }];

export const command = defineRootCommand({
  description:
    'With the key, retries, errors and exit codes of the other commands. The response is shown as JSON; -o table, csv, tsv and id show the records of a list. A response that is not JSON is passed as it is. Fields make a JSON body, or the query of a GET: -f as text, -F typed (true, false, null, whole numbers, @file, @- for stdin); key[sub]=value makes objects, key[]=value lists. Requests that make an order, a batch or a return go through the journal, as they do with their own commands: they get a key if they have none, a request like one of a short time ago is refused and names what exists, and one in doubt is settled. A write to any other path is refused where a policy is set, and takes --unknown-path elsewhere. Legacy paths go to the legacy base URL.',
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
    include: { kind: 'flag', short: 'i', description: 'status and headers of a good response, on stderr' },
    unknownPath: {
      kind: 'flag',
      description: 'send a write to a path that is no operation of the service, past the journal',
    },
    yes: { kind: 'flag', description: 'spend with a live key without confirmation' },
    new: {
      kind: 'flag',
      description: 'make another one, even if the same one was just made or is in doubt',
    },
  },
  examples: [
    { command: 'errand api GET /orders -F limit=5', note: 'a GET; the field goes into the query' },
    { command: 'errand api /orders --paginate -o ndjson --fields id,status', note: 'every page of a list' },
    { command: 'errand api POST /orders --input keyed-order.json', note: 'an order, through the journal' },
    { command: "errand api /sandbox/keys -f 'note=for a test' --dry-run", note: 'a POST, not sent' },
  ],
  output: [
    { record: 'AnyJson' },
    { list: 'AnyJson', when: 'with --paginate' },
    { text: 'the response as it comes', when: 'where it is not JSON' },
  ],
  anyOperation: true,
  defaultFormat: 'json',
  exitCodes: {
    5: 'the same was made a short while ago, or the key belongs to another',
    10: 'in doubt: sent, and no response came',
    11: policyExit,
  },
  related: ['schema', 'order create', 'help output'],
  async run(context, { method, path, header = [], paginate, include, yes = false, ...more }) {
    const { new: isNew = false, unknownPath = false, ...given } = more;
    const { baseUrl, legacyBaseUrl } = context.settings;
    const bases = { base: baseUrl.value, legacyBase: legacyBaseUrl.value };
    const target = readTarget([method, path], sendsSomething(given), bases);
    const headers = readHeaders(header);
    const { query, body } = await readPayload(context, target.method, given);
    const toTerminal = context.io.stdout.isTerminal;
    if (target.operation?.once) {
      refuseExtra(target, {
        '-H': header.length > 0,
        '-i': include,
        '--paginate': paginate,
        'a query': target.path.includes('?'),
        'a field beside --input': Object.keys(query).length > 0,
      });
      const { sendByHand } = await import('./by-hand.ts');
      const record = await sendByHand(context, { target, body, file: given.bodyFrom, yes, isNew });
      return showJson(record, target.operation, context.output);
    }
    await checkWrite(context, target, unknownPath);
    if (isNew) throw new UsageError('--new applies to requests that make an order, a batch or a return');
    const request: RawRequest = { ...target, query, headers, body };
    const client = await context.client();
    if (paginate) return everyRow(context, client, target, request);
    const response = await client.raw(request);
    if (include) reportHead(context, response);
    return showResponse(response, target.operation, context.output, toTerminal);
  },
});

/** A journaled request consists only of a body and a path, so the other options do not apply. */
function refuseExtra({ method, path }: Target, flags: Readonly<Record<string, boolean | undefined>>): void {
  const [flag] = Object.entries(flags).find(([, isGiven]) => isGiven) ?? [];
  if (flag === undefined) return;
  throw new UsageError(
    `${flag} does not apply to ${method} ${path.split('?')[0]}: what moves money goes through the journal, with a body alone`,
  );
}
