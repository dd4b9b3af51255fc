import { createHmac, timingSafeEqual } from 'node:crypto';

/** Result of checking the signature of a webhook. */
export type SignatureCheck = 'good' | 'missing' | 'wrong';

/** How old a signed event may be, ms. Repeats of younger ones are recognized, since events are kept for longer. */
export const maxSignedAgeMs = 7 * 24 * 3600 * 1000;

const hexSha256 = /^[0-9a-f]{64}$/i;

/**
 * Checks a webhook's signature, which is a hexadecimal HMAC-SHA256 of the raw body. The check takes constant time.
 * @param signature is the value of the header `X-Webhook-Signature`, if there is one.
 */
export function checkSignature(
  rawBody: Uint8Array,
  signature: string | undefined,
  secret: string,
): SignatureCheck {
  if (signature === undefined || signature.trim() === '') return 'missing';
  if (!hexSha256.test(signature.trim())) return 'wrong';
  const expected = createHmac('sha256', secret).update(rawBody).digest();
  return timingSafeEqual(Buffer.from(signature.trim(), 'hex'), expected) ? 'good' : 'wrong';
}
