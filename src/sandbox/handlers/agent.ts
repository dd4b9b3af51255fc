import type { AllHandlers, Call } from '../handler.ts';
import { acceptAgentOrder } from '../payments/agent-order.ts';
import { demandPayment } from '../payments/data-call.ts';
import { type AskedProduct, productDetails, productOffers, refuseProduct } from '../products/answers.ts';
import { searchListings } from '../products/listings.ts';

/** A data call is paid for an answer: what is refused costs nothing, so it is refused before it is paid. */
export const agentHandlers = {
  'agent.order.create': (service, call) => acceptAgentOrder(service, call),

  'agent.search': async (service, call) => {
    const { q, min_price: minPrice, max_price: maxPrice } = call.body;
    const value = await searchListings(service, { q, minPrice, maxPrice }, call.query);
    const take = await demandPayment(service, 'agent.search', call);
    return { value, headers: await take() };
  },

  'agent.product.search': async (service, call) => {
    const { query, retailer, page = null, free_shipping } = call.body;
    const freeShipping = free_shipping === true || call.query.free_shipping === true;
    const catalogue = await service.catalogue();
    const value = catalogue.retailerSearch({ query, retailer, page, freeShipping, agent: true });
    const take = await demandPayment(service, 'agent.product.search', call);
    return { value, headers: await take() };
  },

  'agent.product.get': async (service, call) => {
    const product = asked(call);
    await refuseProduct(service, product, 'details');
    const take = await demandPayment(service, 'agent.product.get', call);
    return { value: await productDetails(service, product, call.now), headers: await take() };
  },

  'agent.product.offers': async (service, call) => {
    const product = asked(call);
    await refuseProduct(service, product, 'offers');
    const take = await demandPayment(service, 'agent.product.offers', call);
    return { value: await productOffers(service, product, call.now), headers: await take() };
  },
} satisfies Partial<AllHandlers>;

const asked = ({ body }: Pick<Call<'agent.product.get'>, 'body'>): AskedProduct => ({
  retailer: body.retailer,
  productId: body.product_id,
  maxAge: body.max_age ?? null,
  newerThan: body.newer_than ?? null,
  async: body.async === true,
});
