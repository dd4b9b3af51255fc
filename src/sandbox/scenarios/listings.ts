import type { Scenario } from '../../api/scenario/scenario.ts';
import { retailerNamed, retailers } from '../catalogue/retailers.ts';
import { listingOutcomes } from '../orders/lifecycle/index.ts';
import type { ScenarioProblem } from './problem.ts';

/** What the catalogue would not take of the listings that a scenario brings along. */
export function checkListings(listings: Scenario['listings']): ScenarioProblem[] {
  return listings.flatMap(({ retailer, outcome, offers, variants }, index) => {
    const path = ['listings', index];
    const seller = retailerNamed(retailer);
    const labels = new Set(variants.map(({ choices }) => Object.keys(choices).toSorted().join(', ')));
    return [
      ...(seller ? [] : [{ path: [...path, 'retailer'], message: noRetailer(retailer) }]),
      ...(outcome === undefined || listingOutcomes.includes(outcome)
        ? []
        : [
            {
              path: [...path, 'outcome'],
              message: `"${outcome}" is not one of ${listingOutcomes.join(', ')}`,
            },
          ]),
      ...(offers.length > 0 && seller && seller.kind !== 'marketplace'
        ? [{ path: [...path, 'offers'], message: `only a marketplace has other sellers: ${marketplaces()}` }]
        : []),
      ...(labels.size > 1
        ? [
            {
              path: [...path, 'variants'],
              message: `each has the same choices, not ${[...labels].join(' and ')}`,
            },
          ]
        : []),
    ];
  });
}

const noRetailer = (name: string): string =>
  `there is no retailer "${name}"; there are ${retailers.map(({ retailer }) => retailer).join(', ')}`;

const marketplaces = (): string =>
  retailers
    .filter(({ kind }) => kind === 'marketplace')
    .map(({ retailer }) => retailer)
    .join(', ');
