// Buys an order with the reference library, loses the response, and sends the same payment again. Prints what came.
// With the number of responses that get lost on the way as a third argument: buys as many orders.
import {
  decodePaymentRequiredHeader,
  decodePaymentResponseHeader,
  encodePaymentSignatureHeader,
} from '@x402/core/http';
import { client } from './client.js';

const [, , url, body, lost] = process.argv;

async function buy(body) {
  const send = async (headers = {}) => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body };
    const response = await fetch(url, init);
    return { response, record: await response.json() };
  };
  const unpaid = await send();
  const required = decodePaymentRequiredHeader(unpaid.response.headers.get('payment-required'));
  const payment = encodePaymentSignatureHeader(await client.createPaymentPayload(required));
  const paid = await send({ 'payment-signature': payment }).catch(() => undefined);
  const again = await send({ 'payment-signature': payment });
  const settled = (one) => decodePaymentResponseHeader(one.response.headers.get('payment-response'));
  return {
    asked: unpaid.response.status,
    ...(paid && { made: paid.response.status, id: paid.record.id, settled: settled(paid) }),
    again: again.response.status,
    existing: again.record.details.identifier,
    settledAgain: settled(again),
  };
}

if (lost === undefined) console.log(JSON.stringify(await buy(body)));
else {
  const bought = [];
  for (let n = 0; n < Number(lost); n += 1)
    bought.push(await buy(JSON.stringify({ ...JSON.parse(body), idempotency_key: `${lost}-${n}` })));
  console.log(JSON.stringify(bought));
}
