import { lineFacts } from '../catalogue/line-facts.ts';
import type { Service } from '../server/service.ts';
import { type LineFacts, type OrderBody, type Surroundings, slugOf } from './lifecycle/index.ts';

/** What an order's future depends on besides the order itself. */
export async function surroundingsOf(service: Service, body: OrderBody): Promise<Surroundings> {
  const { config, identity } = service;
  const isTest = (url: string): boolean => slugOf(url, config.shopUrl) !== null;
  const catalogue = body.products.every(({ url }) => isTest(url)) ? undefined : await service.catalogue();
  const factsOf = (line: OrderBody['products'][number]): LineFacts | null => {
    const listing = isTest(line.url) ? undefined : catalogue?.byUrl(line.url);
    return listing ? lineFacts(listing, line) : null;
  };
  return {
    seed: identity.seed,
    speed: config.speed,
    config: {
      prefix: config.prefix,
      trackingUrlBase: `${config.baseUrl}/track`,
      shopUrl: config.shopUrl,
      orderFeeCents: config.orderFeeCents,
    },
    lines: body.products.map(factsOf),
  };
}
