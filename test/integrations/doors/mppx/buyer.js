// Buys by the public SDK's client what the address and the body on the command line say; prints what it got.
import { Credential, Method, Receipt } from 'mppx';
import { Mppx } from 'mppx/client';
import { sandbox } from './method.js';

const [url, body] = process.argv.slice(2);
let payments = 0;
const payer = Method.toClient(sandbox, {
  createCredential: async ({ challenge }) => {
    payments += 1;
    return Credential.serialize({ challenge, payload: { type: 'sandbox', authorization: 'approve' } });
  },
});
const { fetch } = Mppx.create({ methods: [payer], polyfill: false });
const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
console.log(
  JSON.stringify({
    status: response.status,
    payments,
    receipt: response.headers.has('payment-receipt') ? Receipt.fromResponse(response) : null,
    key: response.headers.get('x-api-key'),
    body: await response.json(),
  }),
);
