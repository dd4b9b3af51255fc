import { UsageError } from '../../platform/errors.ts';
import type { Document } from '../../run/read-document.ts';
import { namespaceProblem, referenceOf, referenceProblem } from '../needs/reference.ts';

/**
 * Fields of an order file that do not become fields of the order. Instead, the reference is sent in the order's
 * metadata.
 */
export interface FileReference {
  readonly reference?: string | undefined;
  readonly namespace?: string | undefined;
  /** File name, or `stdin`; used in messages. */
  readonly name: string;
}

/** Separates the reference in an order file from the payload. @throws UsageError if the reference is invalid. */
export function takeReference({ name, value }: Document): {
  readonly payload: Readonly<Record<string, unknown>>;
  readonly ofFile: FileReference;
} {
  const { reference, namespace, ...payload } = value;
  const text = (field: string, given: unknown, problemOf: (text: string) => string | undefined) => {
    if (given === undefined || given === null) return undefined;
    if (typeof given !== 'string')
      throw new UsageError(`${name}: ${field} is not a text; write it in quotes: "${String(given)}"`);
    const problem = problemOf(given);
    if (problem !== undefined) throw new UsageError(`${name}: ${field} ${problem}`);
    return given;
  };
  const ofFile = {
    reference: text('reference', reference, referenceProblem),
    namespace: text('namespace', namespace, namespaceProblem),
    name,
  };
  if (ofFile.reference !== undefined && payload.idempotency_key != null)
    throw new UsageError(
      `${name}: idempotency_key and reference exclude each other; the key follows from the reference`,
    );
  return { payload, ofFile };
}

interface Given {
  readonly reference?: string | undefined;
  readonly namespace?: string | undefined;
}

/**
 * Combines the reference and namespace from flags with those from the file. Other flags override the file, but these do
 * not, because another reference stands for another order.
 * @throws UsageError if they differ.
 */
export function withFileReference(
  { reference, namespace }: Given,
  { name, ...file }: FileReference = { name: '' },
): Given {
  const differs = (flag: string | undefined, inFile: string | undefined): boolean =>
    flag !== undefined && inFile !== undefined && normalized(flag) !== normalized(inFile);
  if (differs(reference, file.reference))
    throw new UsageError(
      `--reference ${reference}, and ${name} has the reference ${file.reference}: that would be another order; give one of them`,
    );
  if (differs(namespace, file.namespace))
    throw new UsageError(
      `--namespace ${namespace}, and ${name} has the namespace ${file.namespace}: that would be another order; give one of them`,
    );
  return { reference: reference ?? file.reference, namespace: namespace ?? file.namespace };
}

const normalized = (text: string): string => referenceOf(text).text;
