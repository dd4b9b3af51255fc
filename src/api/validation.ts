/** One refused value, as the 422 body shows it (`HTTPValidationError`). */
export interface ValidationIssue {
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly type: string;
}

/** A refused value in words: `products.0.url: Field required`. @param whole what it is called where it is all that was given. Pure. */
export const issueText = ({ loc, msg }: ValidationIssue, whole = ''): string =>
  `${loc.slice(1).join('.') || whole}: ${msg}`;

/** The 422 body of the specification. */
export interface ValidationBody {
  readonly detail: readonly ValidationIssue[];
}
