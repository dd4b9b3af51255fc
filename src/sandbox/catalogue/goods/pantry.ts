import { newOnly } from './conditions.ts';
import { item, type Sort } from './sort.ts';

const coffee: Sort = {
  category: 'Coffee',
  listings: 420,
  items: [
    item(['Coffee Beans', 'Kaffeebohnen', 'Caffè in grani'], 799, 3499),
    item(['Ground Coffee', 'Kaffee, gemahlen', 'Caffè macinato'], 599, 2799),
    item(['Espresso Coffee', 'Espressokaffee', 'Caffè espresso'], 699, 3299),
    item(['Decaf Coffee', 'Kaffee, entkoffeiniert', 'Caffè decaffeinato'], 699, 2999),
    item(['Coffee Pods', 'Kaffeepads', 'Cialde di caffè'], 499, 4499),
  ],
  traits: [
    ['Dark Roast', 'dunkle Röstung', 'tostatura scura'],
    ['Medium Roast', 'mittlere Röstung', 'tostatura media'],
    ['Single Origin', 'sortenrein', 'monorigine'],
    ['Organic', 'Bio', 'biologico'],
    ['House Blend', 'Hausmischung', 'miscela della casa'],
    'Café Crème',
  ],
  sizes: ['250 g', '340 g', '500 g', '1 kg'],
  options: [{ label: 'Grind', values: ['Whole Bean', 'Filter', 'Espresso', 'French Press'] }],
  usedAs: newOnly,
  bullets: [
    'Roasted in small batches',
    'Notes of cocoa and toasted hazelnut',
    'Resealable bag with a valve',
    'Grown above 1,200 m',
    'Best within eight weeks of roasting',
  ],
};

const tea: Sort = {
  category: 'Tea',
  listings: 320,
  items: [
    item(['Green Tea', 'Grüner Tee', 'Tè verde'], 399, 2499),
    item(['Earl Grey Tea', 'Earl-Grey-Tee', 'Tè Earl Grey'], 349, 1999),
    item(['Rooibos Tea', 'Rooibostee', 'Tè rooibos'], 349, 1799),
    item(['Peppermint Tea', 'Pfefferminztee', 'Tè alla menta'], 299, 1499),
    item(['Chai Tea', 'Chai-Tee', 'Tè chai'], 449, 1899),
    item(['Matcha 抹茶 Tea', 'Matcha-Tee 抹茶', 'Tè matcha 抹茶'], 1299, 3999),
  ],
  traits: [
    ['Loose Leaf', 'lose', 'in foglie'],
    ['Organic', 'Bio', 'biologico'],
    ['Fair Trade', 'fair gehandelt', 'equo e solidale'],
    ['First Flush', 'erste Pflückung', 'primo raccolto'],
    ['Fruit & Herbs', 'Früchte & Kräuter', 'frutta ed erbe'],
  ],
  sizes: [['20 Bags', '20 Beutel', '20 bustine'], ['50 Bags', '50 Beutel', '50 bustine'], '100 g', '250 g'],
  usedAs: newOnly,
  bullets: [
    'Whole leaves, nothing added',
    'Steep for three minutes at 85 °C',
    'Compostable bags',
    'Keeps its scent in the tin',
    'About 50 cups',
  ],
};

export const pantry = [coffee, tea] as const;
