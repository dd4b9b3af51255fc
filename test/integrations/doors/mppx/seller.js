// A service that sells by the public SDK's server; prints its address. Each payment that it took is a line of stdout.
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { Method, Receipt } from 'mppx';
import { Mppx, Request } from 'mppx/server';
import { sandbox, token } from './method.js';

const settles = (method) =>
  Method.toServer(method, {
    verify: async ({ credential }) => {
      console.log(JSON.stringify({ paid: credential.challenge.request.amount, payload: credential.payload }));
      return Receipt.from({
        method: method.name,
        reference: randomUUID(),
        status: 'success',
        timestamp: new Date().toISOString(),
      });
    },
  });

const till = Mppx.create({
  methods: [settles(token), settles(sandbox)],
  realm: 'seller.example',
  secretKey: 'a key of at least thirty-two bytes, for a test',
});

async function sell(request) {
  const isOrder = request.url.includes('/agent/orders');
  const wanted = isOrder
    ? await request.clone().json()
    : Object.fromEntries(new URL(request.url).searchParams);
  const amount = String(isOrder ? wanted.max_price + 100 : 1);
  const result = await till.charge({
    amount,
    currency: 'usd',
    recipient: 'seller',
    description: 'A “fine” sale — café',
  })(request);
  if (result.status === 402) return result.challenge;
  return result.withReceipt(
    isOrder
      ? Response.json(
          { id: '0b9c4a52-6f0e-4a55-9d1c-2f6f3f0f7c11', status: 'pending', max_price: wanted.max_price },
          { status: 201, headers: { 'x-api-key': 'xx_test_0123456789abcdef0123' } },
        )
      : Response.json({
          status: 'completed',
          query: wanted.q,
          results: [{ url: 'https://shop.example/1', title: 'Tea' }],
        }),
  );
}

const server = createServer(Request.toNodeListener(sell));
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
