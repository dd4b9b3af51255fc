import type { RetailerKind } from './retailers.ts';

type Words = readonly [string, ...string[]];

/** A sort of goods: what it is called, what it costs, who sells it. Prices in cents. */
export interface Goods {
  readonly nouns: Words;
  readonly adjectives: Words;
  readonly sizes: Words;
  readonly category: string;
  readonly cents: readonly [number, number];
  /** How many are listed, of 5,000. */
  readonly share: number;
  readonly kinds?: readonly RetailerKind[];
  readonly retailers?: readonly string[];
  readonly variants?: { readonly label: string; readonly values: Words };
}

const colours: Words = ['Black', 'White', 'Sand', 'Forest Green', 'Navy'];

/** Everyday goods; the share of each says how many listings it gets. */
export const goods: readonly Goods[] = [
  {
    nouns: ['Coffee Beans', 'Ground Coffee', 'Espresso Coffee', 'Decaf Coffee', 'Coffee Pods'],
    adjectives: ['Dark Roast', 'Medium Roast', 'Single Origin', 'Organic', 'House Blend', 'Café Crème'],
    sizes: ['250 g', '340 g', '500 g', '1 kg'],
    category: 'Grocery',
    cents: [599, 3499],
    share: 420,
    kinds: ['general', 'marketplace', 'plain', 'storefront'],
    retailers: [
      'harborgoods',
      'bazario',
      'pantryfolk',
      'membersbarn',
      'morningroast.example',
      'haushalt24',
      'bottegadiva',
    ],
  },
  {
    nouns: [
      'Coffee Maker',
      'Coffee Grinder',
      'Milk Frother',
      'Espresso Machine',
      'Electric Kettle',
      'Gooseneck Kettle',
    ],
    adjectives: ['Compact', 'Stainless Steel', 'Programmable', 'Quiet', 'Classic'],
    sizes: ['0.8 l', '1.2 l', '1.7 l'],
    category: 'Kitchen',
    cents: [1999, 18_999],
    share: 380,
  },
  {
    nouns: ['Green Tea', 'Earl Grey Tea', 'Rooibos Tea', 'Peppermint Tea', 'Chai Tea'],
    adjectives: ['Loose Leaf', 'Organic', 'Fair Trade', 'First Flush', 'Früchte & Kräuter'],
    sizes: ['20 bags', '50 bags', '100 g', '250 g'],
    category: 'Grocery',
    cents: [349, 2999],
    share: 300,
  },
  {
    nouns: [
      'Headphones',
      'Earbuds',
      'Bluetooth Speaker',
      'USB Cable',
      'USB-C Charger',
      'Wireless Mouse',
      'Mechanical Keyboard',
    ],
    adjectives: ['Wireless', 'Noise Cancelling', 'Braided', 'Fast', 'Slim', 'Studio'],
    sizes: ['1 m', '2 m', 'Standard', 'Pro'],
    category: 'Electronics',
    cents: [599, 34_999],
    share: 1100,
    kinds: ['electronics', 'general', 'marketplace'],
    variants: { label: 'Color', values: colours },
  },
  {
    nouns: ['Desk Lamp', 'Floor Lamp', 'Table Lamp', 'Reading Lamp', 'Night Light'],
    adjectives: ['Dimmable', 'Brass', 'Linen', 'Adjustable', 'Ceramic', 'Lampada Elegante'],
    sizes: ['Small', 'Medium', 'Large'],
    category: 'Home',
    cents: [1299, 22_999],
    share: 480,
    variants: { label: 'Color', values: colours },
  },
  {
    nouns: ['Running Shoes', 'Hiking Shoes', 'Canvas Shoes', 'Wool Socks', 'Ankle Socks', 'Rain Jacket'],
    adjectives: ['Lightweight', 'Waterproof', 'Everyday', 'Trail', 'Merino'],
    sizes: ["Women's", "Men's", 'Unisex'],
    category: 'Apparel',
    cents: [899, 15_999],
    share: 620,
    variants: { label: 'Size', values: ['S', 'M', 'L', 'XL'] },
  },
  {
    nouns: ['Cookbook', 'Field Guide', 'Novel', 'Atlas', 'Picture Book', 'Workbook'],
    adjectives: ['Illustrated', 'Pocket', 'Complete', 'Beginner', 'Der große', 'Il piccolo'],
    sizes: ['Paperback', 'Hardcover'],
    category: 'Books',
    cents: [599, 5999],
    share: 520,
    retailers: ['pagebound', 'lesewinkel', 'bazario', 'harborgoods'],
  },
  {
    nouns: ['Mug', 'Bowl', 'Vase', 'Wool Scarf', 'Candle', 'Cutting Board', 'Birthday Card 🎂'],
    adjectives: ['Handmade', 'Stoneware', 'Hand-Dyed', 'Personalised', 'Oak', 'Naïve'],
    sizes: ['Single', 'Set of 2', 'Set of 4'],
    category: 'Handmade',
    cents: [799, 12_999],
    share: 560,
    kinds: ['handmade', 'marketplace', 'plain'],
  },
  {
    nouns: [
      'Storage Box',
      'Bath Towel',
      'Kitchen Scale',
      'Knife Set',
      'Yoga Mat',
      'Water Bottle',
      'Notebook',
      'Backpack',
    ],
    adjectives: ['Stackable', 'Cotton', 'Digital', 'Everyday', 'Recycled', 'Außergewöhnlicher'],
    sizes: ['Small', 'Medium', 'Large', 'Pack of 3'],
    category: 'Household',
    cents: [499, 8999],
    share: 620,
  },
];

export const brands: Words = [
  'Northwind',
  'Alderbrook',
  'Casa Lumière',
  'Fennwick',
  'Ostara',
  'Bellamy & Co',
  'Kestrel',
  'Måne',
  'Pinehurst',
  'Tavola',
];
