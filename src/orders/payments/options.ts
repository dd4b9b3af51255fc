/** How a call that is paid by challenge may be paid. */
export interface PayOptions {
  /** Only this payment method. */
  readonly method?: string | undefined;
  /** A shell command that pays; without it the built-in payer of the method `sandbox`. */
  readonly payCommand?: string | undefined;
  /** The most that may be paid; without it what the contract says the call costs. */
  readonly maxPayCents?: number | undefined;
  /** Pay without asking. */
  readonly yes: boolean;
}
