import { UsageError } from '../../platform/errors.ts';
import { shellLine } from '../../platform/shell.ts';
import type { Options } from '../../run/option.ts';
import { metadataOf, namespaceProblem, referenceKey, referenceOf, referenceProblem } from './reference.ts';

const group = 'Filters';

/** Options that filter orders by their reference. */
export const referenceFilterOptions = {
  reference: {
    kind: 'text',
    placeholder: 'name',
    group,
    description:
      'your own name for the order, exact; not with --metadata-key, since the service takes one pair of metadata',
  },
  namespace: {
    kind: 'text',
    placeholder: 'name',
    group,
    description: 'with --reference: who numbers it',
  },
} as const satisfies Options;

/** A filter by reference. */
export interface ReferenceFilter {
  readonly reference?: string | undefined;
  readonly namespace?: string | undefined;
}

/** How messages name the filters: as flags, or as fields of a call. */
const spelled = {
  flags: {
    reference: '--reference',
    namespace: '--namespace',
    metadata_key: '--metadata-key',
    metadata_value: '--metadata-value',
  },
  fields: {
    reference: 'reference',
    namespace: 'namespace',
    metadata_key: 'metadata_key',
    metadata_value: 'metadata_value',
  },
} as const;

/**
 * The query of a filter by reference.
 * @param others are the other filters, by wire name.
 * @throws UsageError if the filter is invalid, or if there is also a filter by metadata.
 */
export function referenceQuery(
  { reference, namespace }: ReferenceFilter,
  others: Readonly<Record<string, unknown>>,
  names: keyof typeof spelled,
): { readonly metadata_key?: string; readonly metadata_value?: string } {
  const say = spelled[names];
  if (reference === undefined) {
    if (namespace !== undefined) throw new UsageError(`${say.namespace} needs ${say.reference}`);
    return {};
  }
  const problem = referenceProblem(reference);
  if (problem !== undefined) throw new UsageError(`${say.reference} ${problem}`);
  const ofNamespace = namespaceProblem(namespace ?? '');
  if (ofNamespace !== undefined) throw new UsageError(`${say.namespace} ${ofNamespace}`);
  for (const name of ['metadata_key', 'metadata_value'] as const)
    if (others[name] !== undefined)
      throw new UsageError(
        `${say.reference} and ${say[name]} exclude each other: the service filters by one pair of metadata`,
      );
  return { metadata_key: referenceKey, metadata_value: metadataOf(referenceOf(reference, namespace)) };
}

/**
 * If no order was found and the given reference has the form `shop:REQ-1`, in which errand shows references, suggests
 * giving namespace and reference as two flags.
 */
export function referenceHints({ reference = '', namespace }: ReferenceFilter, shown: number): string[] {
  const [, where = '', text = ''] = /^([^:]+):(.+)$/su.exec(reference) ?? [];
  if (shown > 0 || namespace !== undefined || where === '') return [];
  return [`if "${where}" is its namespace: ${shellLine`--namespace ${where} --reference ${text}`}`];
}
