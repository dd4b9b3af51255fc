import { uuidPattern } from '../../api/limits.ts';
import type { OperationName } from '../../api/operations/index.ts';
import type { KeptSide } from './exchange.ts';
import { readTarget } from './request.ts';
import { findRoute } from './routes.ts';

/** The member of a response that names the order. */
const named: Partial<Record<OperationName, RegExp>> = {
  'order.create': /"id":"([\da-f-]{36})"/,
  'agent.order.create': /"id":"([\da-f-]{36})"/,
  'return.create': /"order_id":"([\da-f-]{36})"/,
  'return.get': /"order_id":"([\da-f-]{36})"/,
};

/** The order that a request made, or was about. */
export function orderIn(
  method: string,
  target: string,
  sent: KeptSide,
  received: KeptSide | null,
): string | null {
  const found = findRoute(method, readTarget(target).pathname);
  if ('allowed' in found) return null;
  if (found.kind === 'operation') {
    const { order_id, request_id } = found.path;
    return asOrder(order_id ?? request_id ?? named[found.name]?.exec(received?.body.text ?? '')?.[1]);
  }
  if (found.kind === 'trigger')
    return asOrder(/"id"\s?:\s?"([\da-f-]{36})"/i.exec(sent.body.text ?? '')?.[1]);
  return found.kind === 'page' && found.name === 'consoleEvent' ? asOrder(found.path.id) : null;
}

const asOrder = (id: string | undefined): string | null =>
  id !== undefined && uuidPattern.test(id) ? id.toLowerCase() : null;
