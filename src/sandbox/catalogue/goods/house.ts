import { refurbished, used } from './conditions.ts';
import { type Filled, item, type Sort } from './sort.ts';

const colours: Filled<string> = ['Black', 'White', 'Sand', 'Forest Green', 'Navy'];

const kitchen: Sort = {
  category: 'Kitchen',
  listings: 420,
  items: [
    item(['Coffee Maker', 'Kaffeemaschine', 'Macchina da caffè'], 2999, 18_999),
    item(['Coffee Grinder', 'Kaffeemühle', 'Macinacaffè'], 1999, 12_999),
    item(['Milk Frother', 'Milchaufschäumer', 'Montalatte'], 1299, 5999),
    item(['Electric Kettle', 'Wasserkocher', 'Bollitore elettrico'], 1999, 8999),
    item(['Gooseneck Kettle', 'Schwanenhalskessel', 'Bollitore a collo di cigno'], 2999, 11_999),
    item(['Tea Kettle', 'Teekessel', 'Bollitore da tè'], 1799, 6999),
  ],
  traits: [
    ['Compact', 'kompakt', 'compatto'],
    ['Stainless Steel', 'Edelstahl', 'acciaio inox'],
    ['Programmable', 'programmierbar', 'programmabile'],
    ['Quiet', 'geräuscharm', 'silenzioso'],
    ['Matte Black', 'mattschwarz', 'nero opaco'],
  ],
  sizes: ['0.8 l', '1.2 l', '1.7 l'],
  options: [{ label: 'Color', values: colours }],
  usedAs: refurbished,
  bullets: [
    'Switches off by itself',
    'Parts go in the dishwasher',
    'Cord stows in the base',
    'Stays cool to the touch',
    'Two-year warranty',
  ],
};

const lighting: Sort = {
  category: 'Lighting',
  listings: 480,
  items: [
    item(['Desk Lamp', 'Schreibtischlampe', 'Lampada da scrivania'], 1499, 9999),
    item(['Floor Lamp', 'Stehlampe', 'Lampada da terra'], 3999, 22_999),
    item(['Table Lamp', 'Tischlampe', 'Lampada da tavolo'], 1999, 14_999),
    item(['Reading Lamp', 'Leselampe', 'Lampada da lettura'], 1299, 7999),
    item(['Night Light Lamp', 'Nachtlicht', 'Luce notturna'], 899, 3999),
  ],
  traits: [
    ['Dimmable', 'dimmbar', 'dimmerabile'],
    ['Brass', 'Messing', 'ottone'],
    ['Linen Shade', 'Leinenschirm', 'paralume in lino'],
    ['Adjustable', 'verstellbar', 'regolabile'],
    ['Ceramic', 'Keramik', 'ceramica'],
  ],
  sizes: [
    ['Small', 'klein', 'piccola'],
    ['Medium', 'mittel', 'media'],
    ['Large', 'groß', 'grande'],
  ],
  options: [{ label: 'Color', values: colours }],
  usedAs: used,
  bullets: [
    'Warm white, 2700 K',
    'Bulb included',
    'Switch on the cord',
    'Turns on its base',
    'Set up without tools',
  ],
};

const household: Sort = {
  category: 'Household',
  listings: 600,
  items: [
    item(['Storage Box', 'Aufbewahrungsbox', 'Scatola contenitore'], 699, 3999),
    item(['Bath Towel', 'Badetuch', 'Telo da bagno'], 899, 4999),
    item(['Kitchen Scale', 'Küchenwaage', 'Bilancia da cucina'], 1199, 4999),
    item(['Knife Set', 'Messerset', 'Set di coltelli'], 2499, 14_999),
    item(['Yoga Mat', 'Yogamatte', 'Tappetino yoga'], 1499, 7999),
    item(['Water Bottle', 'Trinkflasche', 'Borraccia'], 799, 3999),
    item(['Notebook', 'Notizbuch', 'Quaderno'], 399, 2499),
    item(['Backpack', 'Rucksack', 'Zaino'], 2499, 12_999),
  ],
  traits: [
    ['Stackable', 'stapelbar', 'impilabile'],
    ['Everyday', 'für jeden Tag', 'per tutti i giorni'],
    ['Recycled', 'aus Rezyklat', 'riciclato'],
    ['Heavy-Duty', 'robust', 'resistente'],
    ['Travel', 'für die Reise', 'da viaggio'],
  ],
  sizes: [
    ['Small', 'klein', 'piccolo'],
    ['Medium', 'mittelgroß', 'medio'],
    ['Large', 'groß', 'grande'],
    ['Pack of 3', '3er-Pack', 'confezione da 3'],
  ],
  options: [{ label: 'Color', values: colours }],
  usedAs: used,
  bullets: [
    'Wipes clean',
    'Made with recycled material',
    'Folds away flat',
    'Fits a standard shelf',
    'One-year warranty',
  ],
};

export const house = [kitchen, lighting, household] as const;
