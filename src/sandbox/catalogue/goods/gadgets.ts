import { refurbished } from './conditions.ts';
import { item, type Sort } from './sort.ts';

const electronics: Sort = {
  category: 'Electronics',
  listings: 980,
  items: [
    item('Headphones', 2499, 34_999),
    item('Wireless Headphones', 3999, 39_999),
    item('Earbuds', 1499, 19_999),
    item('Bluetooth Speaker', 1999, 24_999),
    item('USB Cable', 499, 2499),
    item('USB-C Charger', 1299, 5999),
    item('Wireless Mouse', 999, 8999),
    item('Mechanical Keyboard', 3999, 19_999),
  ],
  traits: ['Noise Cancelling', 'Braided', 'Fast', 'Slim', 'Studio', 'Fold-Flat'],
  sizes: ['1 m', '2 m', 'Standard', 'Pro'],
  options: [
    { label: 'Color', values: ['Black', 'White', 'Graphite', 'Coral'] },
    { label: 'Warranty', values: ['1 Year', '2 Years'] },
  ],
  usedAs: refurbished,
  bullets: [
    'Works with everything that has the plug',
    'Carry pouch included',
    'Up to 30 hours on one charge',
    'Tested to 10,000 bends',
    'Quick-start card in six languages',
  ],
};

export const gadgets = [electronics] as const;
