import { type Filled, item, newOnly, refurbished, type Sort, used } from './sorts.ts';

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

const gadgets = [electronics] as const;

const handmadeGoods: Sort = {
  category: 'Handmade',
  listings: 580,
  items: [
    item(['Coffee Mug', 'Kaffeebecher', 'Tazza da caffè'], 1299, 4999),
    item(['Tea Bowl', 'Teeschale', 'Ciotola da tè'], 1499, 5999),
    item(['Vase', 'Vase', 'Vaso'], 1999, 12_999),
    item(['Wool Scarf', 'Wollschal', 'Sciarpa di lana'], 2499, 9999),
    item(['Beeswax Candle', 'Bienenwachskerze', "Candela di cera d'api"], 799, 3999),
    item(['Oak Cutting Board', 'Schneidebrett aus Eiche', 'Tagliere in rovere'], 2499, 8999),
    item(['Birthday Card 🎂', 'Geburtstagskarte 🎂', 'Biglietto di compleanno 🎂'], 399, 999),
    item(['Sewing Pattern', 'Schnittmuster', 'Cartamodello'], 399, 1499, 'download'),
    item(['Printable Planner', 'Planer zum Drucken', 'Agenda da stampare'], 299, 999, 'download'),
    item(['Art Print', 'Kunstdruck', "Stampa d'arte"], 999, 5999, 'both'),
  ],
  traits: [
    ['Handmade', 'handgemacht', 'fatto a mano'],
    ['Hand-Painted', 'handbemalt', 'dipinto a mano'],
    ['Personalised', 'personalisiert', 'personalizzato'],
    ['Naïve', 'naiv', 'naïf'],
    ['One of a Kind', 'Einzelstück', 'pezzo unico'],
  ],
  sizes: [
    ['Single', 'einzeln', 'singolo'],
    ['Set of 2', '2er-Set', 'set da 2'],
    ['Set of 4', '4er-Set', 'set da 4'],
  ],
  options: [{ label: 'Glaze', values: ['Celadon', 'Oatmeal', 'Midnight', 'Rust'] }],
  usedAs: newOnly,
  bullets: [
    'Each piece differs a little',
    'Made to order by one person',
    'Wrapped without plastic',
    'Signed on the base',
    'Ask for another colour',
  ],
};

const handmade = [handmadeGoods] as const;

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

const house = [kitchen, lighting, household] as const;

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

const pantry = [coffee, tea] as const;

const books: Sort = {
  category: 'Books',
  listings: 560,
  items: [
    item(['The Book of Birds', 'Das Buch der Vögel', 'Il libro degli uccelli'], 999, 4999),
    item(['The Book of Tea', 'Das Buch vom Tee', 'Il libro del tè'], 799, 2999),
    item(['A Coffee Cookbook', 'Das Kaffee-Kochbuch', 'Il ricettario del caffè'], 1299, 3999),
    item(['Atlas of Harbours', 'Atlas der Häfen', 'Atlante dei porti'], 1999, 5999),
    item(['The Lamp Lighter, a Novel', 'Der Lampenanzünder, Roman', 'Il lampionaio, romanzo'], 599, 2499),
    item(['Field Guide to Moths', 'Nachtfalter im Gelände', 'Guida alle falene'], 1499, 3999),
    item(['Picture Book of Trains', 'Bilderbuch der Züge', 'Il libro illustrato dei treni'], 699, 1999),
    item(['Workbook of Knots', 'Übungsbuch Knoten', 'Quaderno dei nodi'], 599, 1799),
    item(
      ['Where the Tide Went, a Novel', 'Wohin die Flut ging, Roman', "Dov'è andata la marea, romanzo"],
      599,
      2499,
    ),
    item(['The Patient Gardener', 'Der geduldige Gärtner', 'Il giardiniere paziente'], 999, 3499),
  ],
  traits: [
    ['Illustrated', 'illustriert', 'illustrato'],
    ['Pocket Edition', 'Taschenausgabe', 'edizione tascabile'],
    ['Complete Edition', 'Gesamtausgabe', 'edizione completa'],
    ['Second Edition', 'zweite Auflage', 'seconda edizione'],
    ['Annotated', 'kommentiert', 'annotato'],
  ],
  sizes: [
    ['Paperback', 'Taschenbuch', 'brossura'],
    ['Hardcover', 'gebunden', 'copertina rigida'],
  ],
  usedAs: used,
  bullets: [
    'With an index',
    'Printed on acid-free paper',
    'Colour plates throughout',
    'Sewn binding',
    'For readers from ten years',
  ],
};

const reading = [books] as const;

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

const wear = [apparel] as const;

/** Everyday goods, in listing number order. */
export const goods: readonly Sort[] = [...pantry, ...house, ...gadgets, ...wear, ...reading, ...handmade];
