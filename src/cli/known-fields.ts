import type { SuccessResponse } from '../api/operation.ts';
import { operations } from '../api/operations/index.ts';
import type { KnownFields } from '../format/result.ts';
import type { AnyCommand } from './define.ts';

/** Whether a command changes nothing with this input: it says so, or calls operations that all read. */
export function onlyReads(
  { operations: called = [], anyOperation, readsOnly }: AnyCommand,
  input: Readonly<Record<string, unknown>>,
): boolean {
  const says = typeof readsOnly === 'function' ? readsOnly(input) : readsOnly;
  const reads = called.every((name) => operations[name].method === 'GET');
  return says ?? (called.length > 0 && reads && anyOperation !== true);
}

/** What the definition of a command says of the fields of its records, as it is run with this input. */
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
