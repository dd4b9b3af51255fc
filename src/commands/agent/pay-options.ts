import type { PayOptions } from '../../orders/payments/pay.ts';
import type { Options } from '../../run/option.ts';

const group = 'Payment';

/** Payment options of a call. */
export const payOptions = {
  maxPay: {
    kind: 'money',
    group,
    description: 'most to pay (default: what the service publishes as the price)',
  },
  method: { kind: 'text', group, placeholder: 'name', maxLength: 64, description: 'pay by this method only' },
  payCommand: {
    kind: 'text',
    group,
    placeholder: 'cmd',
    description: 'a shell command that pays: challenge as JSON on stdin, credential on stdout',
  },
  yes: { kind: 'flag', group, description: 'pay without confirmation' },
} as const satisfies Options;

/** What exit code 6 means for every paid call. */
export const paymentExit = 'not paid: declined, refused, or more than --max-pay';

interface PayFlags {
  readonly maxPay?: number;
  readonly method?: string;
  readonly payCommand?: string;
  readonly yes?: boolean;
}

/** Parsed payment options, with amounts in cents. */
export function paymentFrom({ maxPay, method, payCommand, yes }: PayFlags): PayOptions {
  return { method, payCommand, maxPayCents: maxPay, yes: yes === true };
}
