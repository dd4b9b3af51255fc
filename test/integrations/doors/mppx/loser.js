// Buys as many orders by the public SDK's client as the third argument says, each of whose responses gets lost on the way,
// and sends each payment again. Prints what came.
import { Credential, Method, Receipt } from 'mppx';
import { Mppx } from 'mppx/client';
import { sandbox } from './method.js';

const [url, body, lost] = process.argv.slice(2);
const payer = Method.toClient(sandbox, {
  createCredential: async ({ challenge }) =>
    Credential.serialize({ challenge, payload: { type: 'sandbox', authorization: 'approve' } }),
});
const client = Mppx.create({ methods: [payer], polyfill: false });

async function buy(body) {
  const send = async (headers = {}) => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body };
    const response = await client.rawFetch(url, init);
    return { response, record: await response.clone().json() };
  };
  const unpaid = await send();
  const authorization = await client.createCredential(unpaid.response);
  const paid = await send({ authorization }).catch(() => undefined);
  const again = await send({ authorization });
  return {
    asked: unpaid.response.status,
    ...(paid && { made: paid.response.status }),
    again: again.response.status,
    existing: again.record.details.identifier,
    receipt: Receipt.fromResponse(again.response),
  };
}

const bought = [];
for (let n = 0; n < Number(lost); n += 1)
  bought.push(await buy(JSON.stringify({ ...JSON.parse(body), idempotency_key: `${lost}-${n}` })));
console.log(JSON.stringify(bought));
