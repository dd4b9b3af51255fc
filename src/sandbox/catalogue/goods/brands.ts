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
