import type { AllHandlers } from '../server/handler.ts';
import { ErrorResponse } from '../server/refusal.ts';
import { acceptReturn } from './create.ts';
import { withLabels } from './labels.ts';
import { findReturn, listReturns } from './records.ts';

export const returnHandlers = {
  'return.create': async (service, { caller, body, now }) => ({
    value: await withLabels(service, await acceptReturn(service, caller, body, now), now),
  }),

  'return.list': async (service, { caller, query, now }) => {
    const { returns, total } = listReturns(service.store, caller.userId, query);
    const return_requests = await Promise.all(returns.map((found) => withLabels(service, found, now)));
    return { value: { return_requests, total }, isStored: true, count: returns.length };
  },

  'return.get': async (service, { caller, path, now }) => {
    const id = path.return_request_id;
    const found = findReturn(service.store, id, caller.userId);
    if (!found)
      throw new ErrorResponse('not_found', `There is no return ${id}.`, { resource: 'return_request' });
    return { value: await withLabels(service, found, now), isStored: true };
  },
} satisfies Partial<AllHandlers>;
