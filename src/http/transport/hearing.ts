import type { Clock, ServiceClock } from '../../platform/clock.ts';
import { isSameOrigin } from '../request.ts';
import type { Transport } from './transport.ts';

/** Wraps a transport. Sets the service's clock from the `date` header of the responses. */
export function hearing(
  transport: Transport,
  service: URL,
  { clock, serviceClock }: { readonly clock: Pick<Clock, 'now'>; readonly serviceClock: ServiceClock },
): Transport {
  return {
    close: () => transport.close(),
    async send(request) {
      const sentAt = clock.now();
      const response = await transport.send(request);
      if (isSameOrigin(request.url, service)) serviceClock.heard(response.headers.date, sentAt);
      return response;
    },
  };
}
