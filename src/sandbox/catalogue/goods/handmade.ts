import { newOnly } from './conditions.ts';
import { item, type Sort } from './sort.ts';

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

export const handmade = [handmadeGoods] as const;
