import { destinationCountries } from '../../api/enums.ts';
import type { SandboxConfig } from '../config.ts';
import { Invalid, Refusal } from '../server/refusal.ts';
import type { Service } from '../server/service.ts';
import { creationRefusal, type OrderBody, slugOf } from './lifecycle/index.ts';
import { orderAccount } from './on-account.ts';

/** The service states no bound; each change of an order costs in proportion to its lines. */
const mostLines = 500;

/**
 * Refuses an order for what is known before it is queued, the wallet aside.
 * @param isDryRun whether the order is only looked at: what shows when it is placed is not known then.
 * @throws Refusal, Invalid.
 */
export async function refuseAtOnce(
  service: Service,
  userId: string,
  body: OrderBody,
  isDryRun = false,
): Promise<void> {
  const { config } = service;
  if (body.products.length > mostLines) {
    const msg = `This sandbox takes at most ${mostLines} products an order`;
    throw new Invalid([{ loc: ['body', 'products'], msg, type: 'too_long' }]);
  }
  const refused = creationRefusal(body, config.shopUrl);
  if (refused && refused.code !== 'insufficient_funds' && !(isDryRun && refused.isLate))
    throw new Refusal(refused.code, refused.message, refused.details);
  const country = body.shipping_address.country.toUpperCase();
  if (!destinationCountries.some((served) => served === country)) {
    throw new Refusal(
      'unsupported_country',
      `Orders are delivered to ${destinationCountries.join(', ')}, not to ${country}.`,
      { country },
    );
  }
  if (body.webhooks) await refuseWebhooks(body.webhooks, config);
  const account = orderAccount(service, userId, body);
  const fromElsewhere = body.products.filter(({ url }) => slugOf(url, config.shopUrl) === null);
  if (fromElsewhere.length === 0) return;
  const catalogue = await service.catalogue();
  for (const { url } of fromElsewhere) {
    const { unsupported_reason: reason, support_detail: detail } = catalogue.check(
      url,
      country,
      config.shopUrl,
    );
    const isMember = account !== undefined && reason === 'guest_checkout_not_supported';
    if (reason && !isMember)
      throw new Refusal(reason, detail ?? `${url} cannot be ordered to ${country}.`, { url, country });
    const retailer = catalogue.sellerOf(url)?.retailer;
    if (account?.retailer && account.retailer !== retailer) {
      const message = `The managed account ${account.shortId} is one at ${account.retailer}, and ${url} is not sold there.`;
      throw new Refusal('bad_request', message, { retailer_credentials_id: account.shortId, url });
    }
  }
}

async function refuseWebhooks(
  webhooks: NonNullable<OrderBody['webhooks']>,
  config: SandboxConfig,
): Promise<void> {
  const { requireAddress } = await import('../webhooks/require-address.ts');
  for (const [event, addresses] of Object.entries(webhooks)) {
    for (const address of [addresses ?? []].flat()) requireAddress(address, `webhooks.${event}`, config);
  }
}
