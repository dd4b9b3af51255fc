// Baseline without a client: reads rows and sends them in batches of 500, one request at a time.
import { createReadStream } from 'node:fs';
import { parse } from 'csv-parse';
import { request } from 'undici';

const [, , file, url, key] = process.argv;
const headers = { authorization: key, 'content-type': 'application/json' };
let rows = [];

async function send() {
  const body = JSON.stringify({ filename: 'loop.csv', rows });
  const answer = await request(`${url}/orders/bulk`, { method: 'POST', headers, body });
  const text = await answer.body.text();
  if (answer.statusCode >= 300) throw new Error(text);
  rows = [];
}

for await (const row of createReadStream(file).pipe(parse({ columns: true }))) {
  rows.push(row);
  if (rows.length === 500) await send();
}
if (rows.length > 0) await send();
