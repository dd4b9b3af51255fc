import { destinationCountries } from '../../contract/enums.ts';
import type { Caller } from '../caller.ts';
import { lineFacts } from '../catalogue/line-facts.ts';
import type { Service } from '../handler.ts';
import {
  createOrder,
  creationRefusal,
  type LineFacts,
  type OrderBody,
  type Surroundings,
  slugOf,
} from '../lifecycle/index.ts';
import { Refusal } from '../refusal.ts';
import { insufficientFunds, requireFunds, reserve, walletOf } from '../wallet.ts';
import { loadRecordText } from './record-text.ts';
import { insertOrder } from './records.ts';
import { walletTerms } from './terms.ts';

/**
 * Accepts an order: refused at creation for what is known at once, else kept with its whole future in one transaction,
 * together with the money set aside for it. @returns the record's text. @throws Refusal.
 */
export async function acceptOrder(
  service: Service,
  caller: Caller,
  body: OrderBody,
  now: number,
): Promise<string> {
  refuseExisting(service, caller, body);
  await refuseAtOnce(service, body);
  const surroundings = await surroundingsOf(service, body);
  const recordText = await loadRecordText();
  const { store, identity, config } = service;
  return store.transaction(() => {
    refuseExisting(service, caller, body);
    const { reserved, fee, paysGoods } = walletTerms(body, config.orderFeeCents);
    const { spendable } = walletOf(store, caller.userId);
    if (creationRefusal(body, config.shopUrl)?.code === 'insufficient_funds') {
      const required = Math.max(1, body.max_price + config.orderFeeCents);
      throw insufficientFunds(Math.min(spendable, required - 1), required, []);
    }
    requireFunds(spendable, reserved, []);
    const orderId = identity.uuid('order');
    const key = body.idempotency_key ?? identity.uuid('idempotency_key');
    const { userId, email } = caller;
    const state = createOrder({
      ...surroundings,
      order: body,
      orderId,
      createdAt: now,
      userId,
      createdBy: email,
    });
    const text = recordText(state.record);
    reserve(store, userId, reserved);
    insertOrder(store, {
      state,
      text,
      body,
      userId,
      email,
      key,
      createdAt: now,
      reserved,
      fee,
      walletPaid: paysGoods,
    });
    return text;
  });
}

/** An order made before with this key. */
function refuseExisting({ store }: Service, caller: Caller, body: OrderBody): void {
  if (body.idempotency_key == null) return;
  const row = store.get(
    'SELECT id FROM orders WHERE user_id = ? AND idempotency_key = ?',
    caller.userId,
    body.idempotency_key,
  );
  if (!row) return;
  throw new Refusal('already_exists', 'An order with this idempotency_key exists already.', {
    resource: 'order',
    identifier: String(row.id),
  });
}

async function refuseAtOnce(service: Service, body: OrderBody): Promise<void> {
  const { config } = service;
  const refused = creationRefusal(body, config.shopUrl);
  if (refused && refused.code !== 'insufficient_funds')
    throw new Refusal(refused.code, refused.message, refused.details);
  const country = body.shipping_address.country.toUpperCase();
  if (!destinationCountries.some((served) => served === country)) {
    throw new Refusal(
      'unsupported_country',
      `Orders are delivered to ${destinationCountries.join(', ')}, not to ${country}.`,
      { country },
    );
  }
  const account = body.retailer_credentials_id;
  if (account != null)
    throw new Refusal('bad_request', `There is no managed account ${account}.`, {
      retailer_credentials_id: account,
    });
  const fromElsewhere = body.products.filter(({ url }) => slugOf(url, config.shopUrl) === null);
  if (fromElsewhere.length === 0) return;
  const catalogue = await service.catalogue();
  for (const { url } of fromElsewhere) {
    const { unsupported_reason: reason, support_detail: detail } = catalogue.check(
      url,
      country,
      config.shopUrl,
    );
    if (reason)
      throw new Refusal(reason, detail ?? `${url} cannot be ordered to ${country}.`, { url, country });
  }
}

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
