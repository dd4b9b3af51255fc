import { type OperationName, operations } from '../../contract/operations/index.ts';
import type { Service } from '../handler.ts';
import type { Refusal } from '../refusal.ts';
import type { SandboxRequest } from '../wire.ts';
import { type Asked, openTill, type PaidOperation } from './till.ts';

/** Whether a request only asks what a call costs and how it can be paid: it has no body. */
export const isProbe = (name: OperationName, { body }: SandboxRequest): name is PaidOperation =>
  operations[name].auth === 'payment' && body.length === 0;

/** The answer to a probe. Its challenges are bound to no body, so that they pay nothing; an order's names the fee alone. */
export async function probeRefusal(service: Service, asked: Asked): Promise<Refusal> {
  const { refusal } = await openTill(service, asked, 0);
  return refusal('payment-required', 'This call is paid by challenge: send its body to be told the price.');
}
