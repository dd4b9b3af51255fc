import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { own, textIn } from '../api/json.ts';
import type { Output } from '../api/outputs/index.ts';
import {
  asciiText,
  decodeJson,
  hasPaymentChallenge,
  type PaymentChallenge,
  readPaymentChallenges,
  type X402Offer,
} from './payment-challenge.ts';
import { headerText, type WireHeaders } from './transport/transport.ts';

type Fields = Readonly<Record<string, unknown>>;

const version = 2;
const maxOffers = 32;
const maxTextLength = 200;
/** CAIP-2, such as `eip155:8453`. */
const networkName = /^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$/;
const schemeName = /^[-\w]{1,40}$/;
const assetName = /^[-_.a-zA-Z0-9]{1,128}$/;

export const x402Method = 'x402';

/** All challenges in a 402 response, in order. Those of x402 come first. */
export const readChallenges = (headers: WireHeaders): PaymentChallenge[] => [
  ...readX402Challenges(headers),
  ...readPaymentChallenges(headers),
];

/**
 * What a 402 response takes as payment, for a person: also what errand cannot read or pay. Undefined if it names none.
 */
export function paymentOffered(
  headers: WireHeaders,
  challenges: readonly PaymentChallenge[],
): string | undefined {
  const priced = challenges.map(
    ({ method, amount, currency }) => `${method} (${amount} units of ${asciiText(currency)})`,
  );
  if (priced.length > 0) return `The service takes payment for this by ${priced.join(', or by ')}.`;
  const header = headerText(headers, 'payment-required');
  const unreadable =
    header === undefined ? hasPaymentChallenge(headers) && 'a challenge' : x402Problem(header);
  return unreadable
    ? `The service takes payment by ${unreadable}, which errand cannot read or pay.`
    : undefined;
}

function x402Problem(header: string): string {
  const { x402Version: of, accepts } = decodeJson(header) ?? {};
  if (typeof of === 'number' && of !== version) return `x402 of version ${of}`;
  const schemes = (Array.isArray(accepts) ? accepts : []).map((offer) => fieldsOf(offer).scheme);
  const named = [...new Set(schemes)].filter((name) => typeof name === 'string' && schemeName.test(name));
  return named.length === 0 ? x402Method : `${x402Method} (scheme ${named.join(', ')})`;
}

/**
 * Reads the x402 offers (version 2) in the `PAYMENT-REQUIRED` header of a 402 response. An amount is in the smallest
 * unit of an asset, and the currency is that asset: `network/asset`. Skips an offer that cannot be read, or whose
 * scheme is not `exact`.
 */
function readX402Challenges(headers: WireHeaders): PaymentChallenge[] {
  const offered = decodeJson(headerText(headers, 'payment-required') ?? '');
  if (offered?.x402Version !== version || !Array.isArray(offered.accepts)) return [];
  const { accepts, resource, extensions } = offered;
  return accepts.slice(0, maxOffers).flatMap((accepted) => {
    const offer = { accepted: fieldsOf(accepted), resource, extensions };
    return challengeOf(offer) ?? [];
  });
}

function challengeOf(offer: X402Offer): PaymentChallenge | undefined {
  const { scheme, network, asset, amount, payTo } = offer.accepted;
  if (scheme !== 'exact' || typeof amount !== 'string' || !/^\d{1,78}$/.test(amount)) return undefined;
  if (typeof network !== 'string' || !networkName.test(network)) return undefined;
  if (typeof asset !== 'string' || !assetName.test(asset)) return undefined;
  if (typeof payTo !== 'string' || payTo.length > maxTextLength) return undefined;
  const { description } = fieldsOf(offer.resource);
  return {
    id: `x402-${createHash('sha256').update(JSON.stringify(offer.accepted)).digest('hex').slice(0, 32)}`,
    ...{ realm: '', method: x402Method, intent: 'charge', expiresAt: undefined, digest: undefined },
    description: typeof description === 'string' ? description.slice(0, maxTextLength) : undefined,
    ...{ amount, currency: `${network}/${asset}`, request: { recipient: payTo, network, asset } },
    ...{ parameters: {}, offer },
  };
}

/** The offer as a wallet needs it: in the format of the header, but with only one requirement, the one to accept. */
export const x402Required = ({ accepted, resource, extensions }: X402Offer): Fields => ({
  x402Version: version,
  ...(resource !== undefined && { resource }),
  accepts: [accepted],
  ...(extensions !== undefined && { extensions }),
});

const prefix = 'x402 ';

/**
 * Builds the credential from the output of a wallet, decoded from a header value or JSON. The output is a payment, or
 * only the `payload` of one. The credential starts with `x402`; the rest is sent as `PAYMENT-SIGNATURE`.
 * @returns the credential, or a description of the problem if the output does not pay this offer.
 */
export function readX402Payment(
  fields: Fields,
  { accepted, resource, extensions }: X402Offer,
): { readonly credential: string } | { readonly problem: string } {
  const { x402Version, accepted: paid, payload, resource: of, extensions: more } = fields;
  if (typeof payload !== 'object' || payload === null) return { problem: 'a payment without a payload' };
  if (x402Version !== undefined && x402Version !== version)
    return { problem: `a payment of another version than ${version}` };
  if (paid !== undefined && !isDeepStrictEqual(paid, accepted))
    return { problem: 'a payment of another offer' };
  const given = {
    ...{ x402Version: version, accepted, payload },
    ...((of ?? resource) !== undefined && { resource: of ?? resource }),
    ...((more ?? extensions) !== undefined && { extensions: more ?? extensions }),
  };
  return { credential: prefix + Buffer.from(JSON.stringify(given)).toString('base64') };
}

/** The request header for a credential. The credential is either a payment by x402 or an `authorization` value. */
export const headersOfCredential = (credential: string): Readonly<Record<string, string>> =>
  credential.startsWith(prefix)
    ? { 'payment-signature': credential.slice(prefix.length) }
    : { authorization: credential };

/**
 * Reads the receipt in the `PAYMENT-RESPONSE` header. That header contains no time, so the receipt gets the time from
 * the `date` header.
 */
export function readSettlement(headers: WireHeaders): Output<'Receipt'> | undefined {
  const settled = decodeJson(headerText(headers, 'payment-response') ?? '');
  const reference = settled && textIn(settled, 'transaction');
  if (!settled || reference === undefined) return undefined;
  const { network, payer } = settled;
  const at = Date.parse(headerText(headers, 'date') ?? '');
  return {
    ...{ method: x402Method, reference, status: own(settled, 'success') === true ? 'success' : 'failed' },
    timestamp: Number.isNaN(at) ? '' : new Date(at).toISOString(),
    ...(typeof network === 'string' && { network }),
    ...(typeof payer === 'string' && { payer }),
  };
}

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value))
    : {};
