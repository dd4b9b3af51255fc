import { productDetails, productOffers, refuseProduct } from '../catalogue/products.ts';
import { searchListings } from '../catalogue/search-listings.ts';
import { productTerms, retailerTerms } from '../catalogue/terms.ts';
import type { AllHandlers } from '../server/handler.ts';
import { acceptAgentOrder } from './agent-order.ts';
import { demandPayment } from './data-call.ts';

/** A data call is paid for its data: what is refused costs nothing, so it is refused before it is paid. */
export const agentHandlers = {
  'agent.order.create': (service, call) => acceptAgentOrder(service, call),

  'agent.search': async (service, call) => {
    const value = await searchListings(service, call.query);
    const take = await demandPayment(service, 'agent.search', call);
    return { value, headers: await take() };
  },

  'agent.product.search': async (service, call) => {
    const catalogue = await service.catalogue();
    const value = catalogue.retailerSearch({ ...retailerTerms(call.query), agent: true });
    const take = await demandPayment(service, 'agent.product.search', call);
    return { value, headers: await take() };
  },

  'agent.product.get': async (service, call) => {
    const product = productTerms(call.query.product_id, call.query);
    await refuseProduct(service, product, 'details');
    const take = await demandPayment(service, 'agent.product.get', call);
    return { value: await productDetails(service, product, call.now), headers: await take() };
  },

  'agent.product.offers': async (service, call) => {
    const product = productTerms(call.query.product_id, call.query);
    await refuseProduct(service, product, 'offers');
    const take = await demandPayment(service, 'agent.product.offers', call);
    return { value: await productOffers(service, product, call.now), headers: await take() };
  },
} satisfies Partial<AllHandlers>;
