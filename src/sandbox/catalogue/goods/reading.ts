import { used } from './conditions.ts';
import { item, type Sort } from './sort.ts';

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

export const reading = [books] as const;
