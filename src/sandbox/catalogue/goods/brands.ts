import type { Filled } from './sort.ts';

export const brands: Filled<string> = [
  'Alderbrook',
  'Casa Lumière',
  'Fennwick',
  'Ostara Field',
  'Bellamy & Thorne',
  'Måneskær',
  'Pinehurst Row',
  'Tavolino',
  'Grünholz',
  'Łąka Works',
  'Kaigan 海岸',
  'Oakline',
];

/** Shops of the handmade marketplace. */
export const shops: Filled<string> = [
  'Clay & Fern Studio',
  'Atelier Petite Forêt',
  'The Knotted Thread',
  'Juniper Lane Crafts',
  'Blue Door Pottery',
  'Honeycomb ✿ Paper',
  'Rivet and Reed',
  'Señora Lana',
];

/** Sellers on the large marketplace. */
export const sellers: Filled<string> = [
  'Quayside Trading',
  'Second Shelf',
  'Marlow Outlet',
  'Brightside Resale',
  'Nordlicht Handel',
  'Emporio Verde',
];

export const authors: Filled<string> = [
  'Ines Okafor-Lind',
  'T. R. Ashgrove',
  'Marta Völker',
  'Giulia Santoré',
  'Pell Hardwicke',
  'Noor van Eyck',
  'Ida Brännström',
  'Cosmo Winterbourne',
];
