import type { SuccessResponse } from '../../api/operation.ts';
import type { OperationName } from '../../api/operations/index.ts';
import type { HandlerResult } from './handler.ts';
import { json } from './refusal.ts';
import type { SandboxResponse } from './wire.ts';

let shapes: Promise<typeof import('../../api/schemas/check.ts')> | undefined;

/**
 * A handler's result on the wire. A value is checked against the contract first, so that the two cannot drift apart.
 * @throws Error for a value that breaks its shape, which is a bug of the sandbox.
 */
export async function writeResponse(
  declared: SuccessResponse,
  result: HandlerResult<OperationName>,
): Promise<SandboxResponse> {
  if ('empty' in result) return { status: declared.status, headers: {}, body: null };
  if ('csv' in result) {
    const headers = {
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="${result.filename}"`,
    };
    return { status: declared.status, headers, body: result.csv };
  }
  if ('text' in result) {
    const headers = { 'content-type': 'application/json', ...result.headers };
    return { status: declared.status, headers, body: result.text };
  }
  if (declared.type === 'json') {
    shapes ??= import('../../api/schemas/check.ts');
    const { checkShape } = await shapes;
    const { issues: found = [] } = checkShape(declared.schema, result.value, 'response');
    const issues = result.isStored ? found.filter(({ type }) => type !== 'extra_forbidden') : found;
    if (issues.length > 0)
      throw new Error(
        `the sandbox's own response breaks ${declared.schema}: ${JSON.stringify(issues.slice(0, 5))}`,
      );
  }
  return json(declared.status, result.value, result.headers);
}
