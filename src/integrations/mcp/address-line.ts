import { safeText } from '../../platform/redact/safe-text.ts';

/** Of one field, so that none can push the others out of sight. */
const longestField = 80;

const fields = [
  ['first_name', 'last_name'],
  ['address_line1'],
  ['address_line2'],
  ['city', 'state', 'postal_code'],
  ['country'],
] as const;

type Named = { readonly [name in (typeof fields)[number][number]]?: string | null | undefined };

/** Where an order goes, in one line: each field bounded by itself. Pure. */
export const addressLine = (address: Named): string =>
  fields
    .map((group) =>
      group
        .flatMap((name) => address[name] || [])
        .map((text) => safeText(text, longestField))
        .join(' '),
    )
    .filter((part) => part !== '')
    .join(', ');
