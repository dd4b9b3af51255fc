import { limits } from '../../api/limits.ts';

/** The kinds of retailer that the specification distinguishes; `plain` has no rules of its own. */
export type RetailerKind = 'general' | 'marketplace' | 'electronics' | 'handmade' | 'storefront' | 'plain';

/** The traits of a kind of retailer (specification, Products). */
export interface Traits {
  /** Products that one page of a search looks at. */
  readonly pageProducts: number;
  /** The most of them that the page shows. */
  readonly pageResults: number;
  /** Whether there are pages after the first. */
  readonly pages: boolean;
  /** What `free_shipping` does to a page of results. */
  readonly freeShipping: 'filters' | 'ignored' | 'refused';
  /** The same on the agent's surface. */
  readonly agentFreeShipping: 'filters' | 'ignored' | 'refused';
  /** Whether a product can be requested with `async`. */
  readonly async: boolean;
  /** Whether products have offers to read. */
  readonly offers: boolean;
}

const usual: Traits = {
  pageProducts: 24,
  pageResults: 24,
  pages: true,
  freeShipping: 'ignored',
  agentFreeShipping: 'ignored',
  async: true,
  offers: true,
};

export const traits: Readonly<Record<RetailerKind, Traits>> = {
  general: {
    ...usual,
    pageProducts: 40,
    pageResults: 40,
    freeShipping: 'filters',
    agentFreeShipping: 'filters',
  },
  marketplace: { ...usual, pageProducts: 16, pageResults: 16 },
  electronics: {
    ...usual,
    pageProducts: limits.electronicsPageProducts,
    pageResults: limits.electronicsPageResults,
    freeShipping: 'filters',
  },
  handmade: { ...usual, async: false },
  storefront: {
    ...usual,
    pageProducts: limits.storeDomainResults,
    pageResults: limits.storeDomainResults,
    pages: false,
    freeShipping: 'refused',
    agentFreeShipping: 'refused',
    async: false,
    offers: false,
  },
  plain: usual,
};
