import { isDeepStrictEqual } from 'node:util';
import { headerOf, type SandboxRequest } from '../server/wire.ts';
import { asObject, type Bill, type Credential, decodeObject, isHex } from './challenge.ts';

type Fields = Readonly<Record<string, unknown>>;

/** A test network and its dollar token. No money moves: only the form and the binding of a payment are verified. */
const network = 'eip155:84532';
const asset = '0x036CbD53842c5426634e7929541eC2318f3dCF7e';
const payTo = '0x0000000000000000000000000000000000000402';
/** Decimal places of the asset. */
const decimals = 6;
const payableS = 300;

/** Prefix of the ids of payments by x402, which sets them apart from other payments. */
const idPrefix = 'x402:';

/** The requirement that a payment must accept to pay a bill (x402 version 2, scheme `exact`). */
const requirementOf = ({ cents }: Pick<Bill, 'cents'>): Fields => ({
  scheme: 'exact',
  ...{ network, asset, payTo, maxTimeoutSeconds: payableS },
  amount: String(BigInt(cents) * 10n ** BigInt(decimals - 2)),
  extra: { name: 'USDC', version: '2' },
});

/** Value of the `PAYMENT-REQUIRED` header, which offers to pay a bill by x402. */
export const headerOfOffer = (bill: Bill, url: string, error: string): string =>
  encode({
    ...{ x402Version: 2, error },
    resource: { url, description: `errand's sandbox: ${bill.operation}`, mimeType: 'application/json' },
    accepts: [requirementOf(bill)],
  });

/**
 * Reads a payment by x402. Uses the payment's nonce as the id, because a signature is valid only once per nonce.
 * Returns undefined if there is no payment, and `malformed` if the payment cannot be read.
 */
export function readX402Payment(request: SandboxRequest): Credential | 'malformed' | undefined {
  const given = headerOf(request, 'payment-signature');
  if (given === undefined) return undefined;
  const { x402Version, accepted, payload } = decodeObject(given) ?? {};
  const [requirement, proof] = [asObject(accepted), asObject(payload)];
  const { nonce, from } = asObject(proof?.authorization) ?? {};
  if (x402Version !== 2 || !requirement || !proof || !isHex(nonce, 64)) return 'malformed';
  return {
    challenge: {
      ...{ id: idPrefix + String(nonce).toLowerCase(), realm: '', method: 'x402' },
      ...{ intent: 'charge', request: '' },
    },
    payload: proof,
    source: typeof from === 'string' ? from : null,
    accepted: requirement,
  };
}

/** Why a payment by x402 does not pay a bill; undefined if the payment pays the bill. */
export function x402Failure(
  { accepted, payload }: Credential,
  bill: Bill,
  now: number,
): readonly ['payment-insufficient' | 'invalid-payload' | 'payment-expired', string] | undefined {
  const requirement = requirementOf(bill);
  if (!isDeepStrictEqual(accepted, requirement))
    return [
      'payment-insufficient',
      `The payment accepts another requirement than ${JSON.stringify(requirement)}.`,
    ];
  const { to, value, validAfter, validBefore } = asObject(payload.authorization) ?? {};
  if (!isHex(payload.signature) || String(to).toLowerCase() !== payTo || value !== requirement.amount)
    return ['invalid-payload', `The authorization is not signed for ${requirement.amount} to ${payTo}.`];
  const isValid = Number(validAfter) * 1000 <= now && now < Number(validBefore) * 1000;
  return isValid ? undefined : ['payment-expired', 'The authorization is not valid at this time.'];
}

/** The header that reports the settlement of a payment by x402; empty for any other payment. */
export const settlementHeaders = ({
  challengeId,
  reference,
  source,
}: {
  readonly challengeId: string;
  readonly reference: string;
  readonly source: string | null;
}): Record<string, string> =>
  challengeId.startsWith(idPrefix)
    ? {
        'payment-response': encode({
          ...{ success: true, transaction: reference, network },
          ...(source !== null && { payer: source }),
        }),
      }
    : {};

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64');
