import type { Listing } from './listing.ts';

interface Codes {
  readonly epids: { type: string; value: string }[];
  readonly epids_map: Record<string, string>;
}

/** Product codes of a listing's variant, from the ranges that shops may number for themselves: never a real product's. */
export function codesOf({ number, variant, seller, productId }: Listing): Codes {
  const digits = String(number * 100 + variant);
  const epids = [
    { type: 'UPC', value: checked(`4${digits.padStart(10, '0')}`) },
    { type: 'EAN', value: checked(`2${digits.padStart(11, '0')}`) },
    ...(seller.kind === 'marketplace' ? [{ type: 'ASIN', value: productId }] : []),
  ];
  return { epids, epids_map: Object.fromEntries(epids.map(({ type, value }) => [type, value])) };
}

/** With the check digit that UPC and EAN share. */
function checked(digits: string): string {
  const sum = [...digits]
    .reverse()
    .reduce((total, digit, at) => total + Number(digit) * (at % 2 === 0 ? 3 : 1), 0);
  return `${digits}${(10 - (sum % 10)) % 10}`;
}
