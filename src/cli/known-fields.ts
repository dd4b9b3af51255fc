import type { SuccessResponse } from '../contract/operation.ts';
import { operations } from '../contract/operations/index.ts';
import type { KnownFields } from '../output/known-fields.ts';
import type { AnyCommand } from './define.ts';

/** What the definition of a command says of the fields of its records, as it is run with this input. */
export function knownFieldsOf(
  { operations: called = [], anyOperation, readsOnly }: AnyCommand,
  input: Readonly<Record<string, unknown>>,
): KnownFields {
  const reads = called.map((name) => operations[name]).filter(({ method }) => method === 'GET');
  const isRead = called.length > 0 && reads.length === called.length;
  const responses = reads
    .map(({ response }): SuccessResponse => response)
    .filter((response) => response.type === 'json');
  return {
    refuses:
      (typeof readsOnly === 'function' ? readsOnly(input) : readsOnly) ?? (isRead && anyOperation !== true),
    inContract: responses.length === 0 ? undefined : isInResponse,
  };

  async function isInResponse(path: string): Promise<boolean> {
    const { hasPath } = await import('../contract/schemas/has-path.ts');
    return responses.some(({ schema, rows }) =>
      hasPath(schema, rows === undefined ? path : `${rows}.0.${path}`),
    );
  }
}
