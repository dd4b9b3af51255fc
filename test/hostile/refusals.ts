import { Buffer } from 'node:buffer';
import type { Operation } from '../../src/api/operation.ts';
import { type OperationName, operations } from '../../src/api/operations/index.ts';
import type { Mutation } from './mutations.ts';

/** An error response from the service or from a gateway in front of it. */
export interface RefusalSample {
  readonly status: number;
  readonly body: unknown;
}

const id = '7b1c2a34-0000-4000-8000-00000000abcd';
const error = (code: string, details: object = {}) => ({ code, message: 'It was refused.', details });

/** One per way the client parses errors. */
export const refusals: readonly RefusalSample[] = [
  {
    status: 400,
    body: error('invalid_shipping_address', {
      address_validation_reasons: ['no such street'],
      field_errors: [
        { field: 'city', code: 'unknown', message: 'no such city', received: 'X', expected: 'Y' },
      ],
      line_rejections: [
        { item_id: id, url: 'https://a.example/1', code: 'out_of_stock', message: 'sold out' },
      ],
    }),
  },
  { status: 400, body: error('slow_down', { interval: 1 }) },
  { status: 401, body: error('token_expired') },
  {
    status: 402,
    body: error('insufficient_funds', {
      required: 5100,
      available: 5099,
      fund_with: [
        { rail: 'your_retailer_account', message: 'Use it.', retailer_credentials_id: id, required: 100 },
      ],
    }),
  },
  { status: 404, body: error('not_found', { resource: 'order' }) },
  { status: 409, body: error('already_exists', { resource: 'order', identifier: id }) },
  { status: 422, body: { detail: [{ loc: ['body', 'products', 0, 'url'], msg: 'It is wrong', type: 'x' }] } },
  { status: 429, body: error('rate_limit_exceeded', { retry_after: 1 }) },
  { status: 503, body: { error: error('service_unavailable') } },
];

/** The request in a payment challenge. */
const price = {
  amount: '5100',
  currency: 'usd',
  recipient: 'till',
  decimals: 2,
  methodDetails: { network: 'a' },
};

/** Renders an error response with one value changed; for a paid operation the challenge's price is changed too. */
export function changedRefusal(
  operation: OperationName,
  { status, body }: RefusalSample,
  mutation: Mutation,
) {
  const { auth }: Operation = operations[operation];
  const request = Buffer.from(JSON.stringify(mutation.apply(price)) ?? '').toString('base64url');
  const challenge = `Payment id="a", realm="r", method="sandbox", intent="charge", request="${request}"`;
  return {
    status,
    headers: {
      'content-type': 'application/json',
      ...(status === 429 && { 'retry-after': '1e308' }),
      ...(status === 402 &&
        auth === 'payment' &&
        request.length < 10_000 && { 'www-authenticate': challenge }),
    },
    text: JSON.stringify(mutation.apply(body)) ?? '',
  };
}
