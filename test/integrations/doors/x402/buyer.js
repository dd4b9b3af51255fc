// Buys an order with the reference library, loses the response, and sends the same payment again. Prints what came.
import {
  decodePaymentRequiredHeader,
  decodePaymentResponseHeader,
  encodePaymentSignatureHeader,
} from '@x402/core/http';
import { client } from './client.js';

const [, , url, body] = process.argv;
const send = (headers = {}) =>
  fetch(url, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body });
const unpaid = await send();
const required = decodePaymentRequiredHeader(unpaid.headers.get('payment-required'));
const payment = encodePaymentSignatureHeader(await client.createPaymentPayload(required));
const paid = await send({ 'payment-signature': payment });
const again = await send({ 'payment-signature': payment });
console.log(
  JSON.stringify({
    asked: unpaid.status,
    made: paid.status,
    id: (await paid.json()).id,
    settled: decodePaymentResponseHeader(paid.headers.get('payment-response')),
    again: again.status,
    existing: (await again.json()).details.identifier,
    settledAgain: decodePaymentResponseHeader(again.headers.get('payment-response')),
  }),
);
