import type { Answer } from '../../contract/operation.ts';
import type { OperationName } from '../../contract/operations/index.ts';
import type { HandlerAnswer } from './handler.ts';
import { json } from './refusal.ts';
import type { SandboxResponse } from './wire.ts';

/**
 * The answer on the wire; a value is held against the contract first, so that the two cannot drift apart.
 * @throws Error for a value that breaks its shape, which is a bug of the sandbox.
 */
export async function writeAnswer(
  wanted: Answer,
  answered: HandlerAnswer<OperationName>,
): Promise<SandboxResponse> {
  if ('empty' in answered) return { status: wanted.status, headers: {}, body: null };
  if ('csv' in answered) {
    const headers = {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="${answered.filename}"`,
    };
    return { status: wanted.status, headers, body: answered.csv };
  }
  if ('text' in answered) {
    const headers = { 'content-type': 'application/json', ...answered.headers };
    return { status: wanted.status, headers, body: answered.text };
  }
  if (wanted.type === 'json') {
    const { checkShape } = await import('../../contract/schemas/check.ts');
    const { issues } = checkShape(wanted.schema, answered.value, 'answer');
    if (issues)
      throw new Error(
        `the sandbox's own answer breaks ${wanted.schema}: ${JSON.stringify(issues.slice(0, 5))}`,
      );
  }
  return json(wanted.status, answered.value, answered.headers);
}
