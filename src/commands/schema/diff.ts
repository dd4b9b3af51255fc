import { changeClasses, compareDocuments, type Drift, isBreaking } from '../../api/drift/compare.ts';
import { defineCommand } from '../../cli/define.ts';
import type { Column } from '../../format/result.ts';
import { isAddress, readTarget } from '../../http/request.ts';
import { ErrandError, exitCodes, UsageError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { readDocument } from '../../run/read-document.ts';

export const diff = defineCommand({
  name: 'diff',
  summary: "Compare the contract with the service's own description",
  description:
    'Operations, parameters, fields of bodies and responses, enum values and bounds. A change is classed as a client of the contract sees it: removed; tightened (it may send less, or can count on less); changed; loosened; added. An operation of the legacy service is compared only where it is described.',
  options: {
    against: {
      kind: 'text',
      placeholder: 'file|url|-',
      completes: 'files',
      description: "an OpenAPI document in place of the service's own; an address of the service, or a file",
    },
  },
  examples: [
    { command: 'errand schema diff', note: 'has the service moved away from what errand knows?' },
    { command: 'errand schema diff -o json --query "[?change==\'removed\']"', note: 'what is gone' },
    { command: 'errand api /openapi.json | errand schema diff --against -', note: 'against a document' },
  ],
  output: { list: 'ContractDrift' },
  operations: ['openapi.get'],
  exitCodes: { 7: 'something was removed or tightened' },
  readsOnly: true,
  related: ['schema', 'api'],
  async run(context, { against }) {
    const { document, name } = await readDescription(context, against);
    const { openApiDocument } = await import('../../api/openapi.ts');
    const { settings, output } = context;
    const known = openApiDocument({
      baseUrl: settings.baseUrl.value,
      legacyBaseUrl: settings.legacyBaseUrl.value,
    });
    const { drifts, compared, problem } = compareDocuments(known, document);
    if (problem !== undefined) {
      throw new ErrandError('unexpected', `${name} cannot be compared: ${problem}`, { retryable: false });
    }
    const text = summary(drifts, compared);
    return {
      kind: 'list',
      rows: drifts.map((drift) => ({ ...drift })),
      columns,
      id: 'operation',
      empty: text,
      hints: () => (drifts.length === 0 && output.format === 'table' ? [] : [text]),
      exitCode: () => (drifts.some(isBreaking) ? exitCodes.ended_badly : 0),
    };
  },
});

const columns: readonly Column[] = [
  { name: 'change', path: 'change', kind: 'status', weight: 9 },
  { name: 'operation', path: 'operation', weight: 8 },
  { name: 'part', path: 'part', weight: 5 },
  { name: 'field', path: 'field', weight: 7 },
  { name: 'what', path: 'aspect', weight: 6 },
  { name: 'contract', path: 'contract', weight: 4 },
  { name: 'service', path: 'service', weight: 3 },
  { name: 'observed', path: 'observed', kind: 'flag', weight: 1 },
];

/** Reads the description to compare with. Also returns its name for messages. */
async function readDescription(
  context: Context,
  against: string | undefined,
): Promise<{ readonly document: unknown; readonly name: string }> {
  if (against !== undefined && !isAddress(against)) {
    const { name, value } = await readDocument(context, '--against', against);
    return { document: value, name };
  }
  const client = await context.client();
  const name = "the service's description";
  if (against === undefined) return { document: (await client.call('openapi.get', {})).body, name };
  const { baseUrl, legacyBaseUrl } = context.settings;
  const target = readTarget(['GET', against], false, {
    base: baseUrl.value,
    legacyBase: legacyBaseUrl.value,
  });
  const response = await client.raw(target);
  if ('json' in response) return { document: response.json, name };
  throw new UsageError(`--against: the response from ${target.path} is not JSON`);
}

/** `2 removed, 1 added; 41 operations compared`. */
function summary(drifts: readonly Drift[], compared: number): string {
  const counted = changeClasses
    .map((name) => ({ name, count: drifts.filter(({ change }) => change === name).length }))
    .filter(({ count }) => count > 0)
    .map(({ name, count }) => `${count} ${name}`);
  return `${counted.length === 0 ? 'no difference' : counted.join(', ')}; ${compared} operations compared`;
}
