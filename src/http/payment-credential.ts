import type { Output } from '../api/outputs/index.ts';
import { decodeJson, type PaymentChallenge } from './payment-challenge.ts';
import { headerText, type WireHeaders } from './transport/transport.ts';
import { readSettlement, readX402Payment } from './x402.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The proof with which a payment method pays a challenge, and the payer if the method names one. */
export interface PaymentProof {
  readonly payload: unknown;
  readonly source?: string | undefined;
}

/** The service's confirmation of a payment. Additional fields depend on the method. */
export type Receipt = Output<'Receipt'>;

/**
 * What the response to a paid order contains in addition to the order's record: a receipt, and a key that reads the
 * order.
 */
export interface Grant {
  readonly apiKey: string | undefined;
  readonly receipt: Receipt | undefined;
}

/** Maximum length of a header. Servers reject longer headers. */
const maxCredentialLength = 16 * 1024;

/** Builds the `authorization` header that pays a challenge. */
export function paymentCredential(
  { parameters }: PaymentChallenge,
  { payload, source }: PaymentProof,
): string {
  const credential = { challenge: parameters, payload, ...(source !== undefined && { source }) };
  return `Payment ${Buffer.from(JSON.stringify(credential)).toString('base64url')}`;
}

/**
 * Builds the header from a credential that another program made. The credential may be a header value, base64url, JSON,
 * or JSON with only its `payload` (and `source`).
 * @returns the header, or a description of the problem if the credential does not pay this challenge.
 */
export function readCredential(
  text: string,
  challenge: PaymentChallenge,
): { readonly credential: string } | { readonly problem: string } {
  const trimmed = text.trim().replace(/^(?:Payment|PAYMENT-SIGNATURE:)\s+/i, '');
  if (trimmed === '') return { problem: 'nothing' };
  const fields = trimmed.startsWith('{') ? parsed(trimmed) : decodeJson(trimmed);
  if (!fields) return { problem: 'neither JSON nor base64url of it' };
  const read = challenge.offer
    ? readX402Payment(fields, challenge.offer)
    : readChallengeCredential(fields, challenge);
  return 'credential' in read && read.credential.length > maxCredentialLength
    ? { problem: `a credential of more than ${maxCredentialLength} bytes` }
    : read;
}

function readChallengeCredential(
  { challenge: paid, payload, source }: Fields,
  challenge: PaymentChallenge,
): { readonly credential: string } | { readonly problem: string } {
  if (payload === undefined) return { problem: 'a credential without a payload' };
  if (source !== undefined && typeof source !== 'string') return { problem: 'a source that is not text' };
  if (paid !== undefined && Object(paid).id !== challenge.id) {
    return { problem: 'a credential for another challenge' };
  }
  return { credential: paymentCredential(challenge, { payload, source }) };
}

/** Reads the receipt and temporary key from a response. */
export function readGrant(headers: WireHeaders): Grant {
  const apiKey = headerText(headers, 'x-api-key');
  return {
    apiKey: apiKey !== undefined && /^[\x21-\x7e]{1,500}$/.test(apiKey) ? apiKey : undefined,
    receipt: readReceipt(headerText(headers, 'payment-receipt')) ?? readSettlement(headers),
  };
}

function readReceipt(encoded = ''): Receipt | undefined {
  const { method, reference, status, timestamp, ...more } = decodeJson(encoded) ?? {};
  if (typeof method !== 'string' || typeof reference !== 'string') return undefined;
  if (typeof status !== 'string' || typeof timestamp !== 'string') return undefined;
  return { ...more, method, reference, status, timestamp };
}

function parsed(text: string): Fields | undefined {
  return decodeJson(Buffer.from(text).toString('base64url'));
}
