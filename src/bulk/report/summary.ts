import { countText } from '../../output/count-text.ts';
import type { Report } from './read.ts';

/** What a report does not know. */
export const missingLines = ({ missing, incomplete }: Pick<Report, 'missing' | 'incomplete'>): string[] => [
  ...(missing === 0
    ? []
    : [`${ordersText(missing)} could not be found at the service: their amounts are not included`]),
  ...(incomplete === 0
    ? []
    : [
        `${ordersText(incomplete)} ${incomplete === 1 ? 'does' : 'do'} not say all amounts; what they say is counted`,
      ]),
];

export const ordersText = (count: number): string => (count === 1 ? '1 order' : `${countText(count)} orders`);
