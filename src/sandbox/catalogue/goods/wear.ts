import { newOnly } from './conditions.ts';
import { item, type Sort } from './sort.ts';

const apparel: Sort = {
  category: 'Apparel',
  listings: 640,
  items: [
    item(['Running Shoes', 'Laufschuhe', 'Scarpe da corsa'], 3999, 15_999),
    item(['Hiking Shoes', 'Wanderschuhe', 'Scarpe da trekking'], 4999, 17_999),
    item(['Canvas Shoes', 'Leinenschuhe', 'Scarpe di tela'], 1999, 6999),
    item(['Wool Socks', 'Wollsocken', 'Calze di lana'], 899, 2999),
    item(['Ankle Socks', 'Sneakersocken', 'Calzini corti'], 599, 1999),
    item(['Rain Jacket', 'Regenjacke', 'Giacca impermeabile'], 3999, 18_999),
  ],
  traits: [
    ['Lightweight', 'leicht', 'leggere'],
    ['Waterproof', 'wasserdicht', 'idrorepellenti'],
    ['Everyday', 'für jeden Tag', 'per tutti i giorni'],
    ['Trail', 'fürs Gelände', 'da sentiero'],
    ['Merino', 'Merino', 'merino'],
  ],
  sizes: [
    ["Women's", 'Damen', 'donna'],
    ["Men's", 'Herren', 'uomo'],
    ['Unisex', 'unisex', 'unisex'],
  ],
  options: [
    { label: 'Size', values: ['S', 'M', 'L', 'XL'] },
    { label: 'Color', values: ['Black', 'Sand', 'Forest Green', 'Navy'] },
  ],
  usedAs: newOnly,
  bullets: [
    'True to size',
    'Machine wash cold',
    'Breathes on warm days',
    'Flat seams that do not rub',
    'Cushioned heel and toe',
  ],
};

export const wear = [apparel] as const;
