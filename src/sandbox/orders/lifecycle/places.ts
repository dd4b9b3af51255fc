import type { Draw } from './draw.ts';
import type { OrderRecord, UntimedCheckpoint } from './types.ts';

type Address = OrderRecord['shipping_address'];
type Location = Pick<UntimedCheckpoint, 'city' | 'state' | 'zip' | 'country' | 'location'>;
/** City, state, postal code. */
type Hub = readonly [string, string, string];
type Hubs = readonly [Hub, ...Hub[]];

/** Sorting centres by country; the position is the first digit of the postal codes that each serves. */
const hubsOf: Readonly<Record<string, Hubs>> = {
  US: [
    ['Boston', 'MA', '02108'],
    ['Philadelphia', 'PA', '19104'],
    ['Charlotte', 'NC', '28202'],
    ['Atlanta', 'GA', '30303'],
    ['Columbus', 'OH', '43215'],
    ['Minneapolis', 'MN', '55401'],
    ['Chicago', 'IL', '60601'],
    ['Dallas', 'TX', '75201'],
    ['Denver', 'CO', '80202'],
    ['Los Angeles', 'CA', '90012'],
  ],
  DE: [
    ['Leipzig', 'SN', '04109'],
    ['Berlin', 'BE', '10115'],
    ['Hamburg', 'HH', '20095'],
    ['Hannover', 'NI', '30159'],
    ['Dortmund', 'NW', '44135'],
    ['Köln', 'NW', '50667'],
    ['Frankfurt am Main', 'HE', '60311'],
    ['Stuttgart', 'BW', '70173'],
    ['München', 'BY', '80331'],
    ['Nürnberg', 'BY', '90402'],
  ],
  IT: [
    ['Roma', 'RM', '00118'],
    ['Torino', 'TO', '10121'],
    ['Milano', 'MI', '20121'],
    ['Venezia', 'VE', '30121'],
    ['Bologna', 'BO', '40121'],
    ['Firenze', 'FI', '50121'],
    ['Ancona', 'AN', '60121'],
    ['Bari', 'BA', '70121'],
    ['Napoli', 'NA', '80121'],
    ['Palermo', 'PA', '90121'],
  ],
};
/** Standard time of each US postal zone, hours from UTC; Germany and Italy share theirs. */
const usHours = [-5, -5, -5, -5, -5, -6, -6, -6, -7, -8] as const;
const europeHours = 1;

const dayMs = 24 * 3_600_000;

export function destination(address: Address): Location {
  return locationIn(address.city, address.state, address.postal_code, address.country);
}

/** The sorting centre that serves an address; the address's own city in a country without centres. */
export function nearestHub(address: Address): Location {
  const hub = hubsOf[address.country]?.[zoneOf(address)];
  return hub ? locationIn(...hub, address.country) : destination(address);
}

/** Where the retailer ships from: some centre of the destination's country. */
export function origin(address: Address, draw: Draw, parcel: string): Location {
  const hubs = hubsOf[address.country];
  return hubs ? locationIn(...draw.pick(`origin ${parcel}`, hubs), address.country) : destination(address);
}

/** The calendar date at the destination, `days` after `at` (ms). */
export function localDate(address: Address, at: number, days: number): string {
  const hours = address.country === 'US' ? (usHours[zoneOf(address)] ?? 0) : europeHours;
  return new Date(at + days * dayMs + hours * 3_600_000).toISOString().slice(0, 10);
}

function zoneOf(address: Address): number {
  const digit = Number.parseInt(address.postal_code.charAt(0), 10);
  return Number.isNaN(digit) ? 0 : digit;
}

function locationIn(city: string, state: string | null, zip: string, country: string): Location {
  const region = [state, zip].filter(Boolean).join(' ');
  return { city, state, zip, country, location: [city, region, country].filter(Boolean).join(', ') };
}
