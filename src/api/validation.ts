/** A rejected value, in the format of the 422 body (`HTTPValidationError`). */
export interface ValidationIssue {
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly type: string;
}

/**
 * Describes a rejected value: `products.0.url: Field required`. @param whole is the name to use if the whole input was
 * rejected. Pure.
 */
export const issueText = ({ loc, msg }: ValidationIssue, whole = ''): string =>
  `${loc.slice(1).join('.') || whole}: ${msg}`;

/** The specification's 422 body. */
export interface ValidationBody {
  readonly detail: readonly ValidationIssue[];
}
