import { safeText } from '../../platform/redact/safe-text.ts';

/** Maximum length of a field. Without a limit, a long field could push the others out of view. */
const maxFieldLength = 80;

const fields = [
  ['first_name', 'last_name'],
  ['address_line1'],
  ['address_line2'],
  ['city', 'state', 'postal_code'],
  ['country'],
] as const;

type Named = { readonly [name in (typeof fields)[number][number]]?: string | null | undefined };

/** Formats a delivery address as one line, truncating each field separately. Pure. */
export const addressLine = (address: Named): string =>
  fields
    .map((group) =>
      group
        .flatMap((name) => address[name] || [])
        .map((text) => safeText(text, maxFieldLength))
        .join(' '),
    )
    .filter((part) => part !== '')
    .join(', ');
