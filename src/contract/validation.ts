/** One refused value, as the 422 body shows it (`HTTPValidationError`). */
export interface ValidationIssue {
  readonly loc: readonly (string | number)[];
  readonly msg: string;
  readonly type: string;
}

/** The 422 body of the specification. */
export interface ValidationBody {
  readonly detail: readonly ValidationIssue[];
}
