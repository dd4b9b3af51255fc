// Baseline without a client: fetches all pages with undici sequentially and streams them to stdout.
import { writeSync } from 'node:fs';
import { request } from 'undici';

const [, , url, key, count] = process.argv;
for (let offset = 0; offset < Number(count); offset += 500) {
  const { body } = await request(`${url}/orders?limit=500&offset=${offset}`, {
    headers: { authorization: key, accept: 'application/json' },
  });
  writeSync(1, await body.text());
}
