import { checkShape } from '../../api/schemas/check.ts';
import { UsageError } from '../../platform/errors.ts';
import { type AddressFields, addressFlag, addressProblems, normalised } from './options.ts';

/** Validates an address before it is saved. @throws UsageError naming each invalid field by its flag. */
export function checkedAddress(typed: AddressFields): Readonly<Record<string, string | null>> {
  const given = normalised(typed);
  const checked = checkShape('Address', given, 'body');
  const issues = [
    ...(checked.issues ?? []).map(({ loc, msg }) => ({ field: loc.slice(1).join('.'), message: msg })),
    ...addressProblems(given),
  ];
  if (issues.length > 0 || !checked.value) throw new UsageError(problemText(issues));
  const fields = Object.entries(checked.value);
  return Object.fromEntries(
    fields.flatMap(([field, value]) => (value === undefined ? [] : [[field, value]])),
  );
}

function problemText(issues: readonly { readonly field: string; readonly message: string }[]): string {
  const lines = issues.map(({ field, message }) => `${addressFlag(field) ?? field}: ${message}`);
  return lines.length === 1 ? String(lines[0]) : `the address is not valid: ${lines.join('; ')}`;
}
