import type { SuccessResponse } from '../api/operation.ts';
import { operations } from '../api/operations/index.ts';
import type { KnownFields } from '../format/result.ts';
import type { AnyCommand } from './define.ts';

/**
 * Whether a command is read-only for this input. It is if its definition says so, or if all operations that it calls
 * are read-only.
 */
export function onlyReads(
  { operations: called = [], anyOperation, readsOnly }: AnyCommand,
  input: Readonly<Record<string, unknown>>,
): boolean {
  const declared = typeof readsOnly === 'function' ? readsOnly(input) : readsOnly;
  const reads = called.every((name) => operations[name].method === 'GET');
  return declared ?? (called.length > 0 && reads && anyOperation !== true);
}

/** Fields that the records of a command are known to have for this input, according to the command's definition. */
export function knownFieldsOf(command: AnyCommand, input: Readonly<Record<string, unknown>>): KnownFields {
  const responses = (command.operations ?? [])
    .map((name) => operations[name])
    .filter(({ method }) => method === 'GET')
    .map(({ response }): SuccessResponse => response)
    .filter((response) => response.type === 'json');
  return {
    refuses: onlyReads(command, input),
    inContract: responses.length === 0 ? undefined : isInResponse,
  };

  async function isInResponse(path: string): Promise<boolean> {
    const { hasPath } = await import('../api/schemas/has-path.ts');
    return responses.some(({ schema, rows }) =>
      hasPath(schema, rows === undefined ? path : `${rows}.0.${path}`),
    );
  }
}
