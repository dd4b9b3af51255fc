import { asObject } from './canonical-json.ts';

type Fields = Readonly<Record<string, unknown>>;

interface MethodRow {
  /** What the challenge's request says beside amount and currency. */
  readonly request: Fields;
  /** Whether a payload has the method's form. */
  readonly accepts: (payload: Fields) => boolean;
  /** That form, for messages. */
  readonly form: string;
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const isHex = (value: unknown, digits?: number): boolean =>
  typeof value === 'string' && /^0x[0-9a-f]+$/i.test(value) && (!digits || value.length === digits + 2);

/**
 * How each method is advertised and what form its proof has. `sandbox` settles without money; of the others form and
 * binding are checked and nothing else. All ask for US cents, so that no real wallet takes one for a transfer of tokens.
 */
export const paymentMethods = {
  sandbox: {
    request: { methodDetails: { authorizations: ['approve', 'decline'] }, recipient: 'sandbox' },
    accepts: ({ type, authorization }) =>
      type === 'sandbox' && (authorization === 'approve' || authorization === 'decline'),
    form: '{"type":"sandbox","authorization":"approve"}, or "decline" to rehearse a refusal',
  },
  stripe: {
    request: {
      methodDetails: { networkId: 'internal', paymentMethodTypes: ['card'] },
      recipient: 'acct_sim_sandbox',
    },
    accepts: ({ spt }) => isText(spt),
    form: '{"spt":"…"}',
  },
  tempo: {
    request: { methodDetails: { chainId: 0 }, recipient: '0x0000000000000000000000000000000000000000' },
    accepts: ({ type, hash, signature }) =>
      type === 'hash' ? isHex(hash, 64) : (type === 'transaction' || type === 'proof') && isHex(signature),
    form: '{"type":"transaction","signature":"0x…"} or {"type":"hash","hash":"0x…"}',
  },
  x402: {
    request: {
      methodDetails: { network: 'sandbox', scheme: 'exact' },
      recipient: '0x0000000000000000000000000000000000000000',
    },
    accepts: ({ signature, authorization }) => isHex(signature) && asObject(authorization) !== undefined,
    form: '{"signature":"0x…","authorization":{…}}',
  },
} as const satisfies Record<string, MethodRow>;

export type PaymentMethod = keyof typeof paymentMethods;

export const isPaymentMethod = (name: string): name is PaymentMethod => Object.hasOwn(paymentMethods, name);
