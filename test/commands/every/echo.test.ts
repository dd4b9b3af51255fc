import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { address } from '../../support/order-body.ts';
import { shell } from '../../support/run.ts';
import { makeWorkspace, type Workspace } from '../../support/workspace.ts';

const secrets = {
  key: 'zz_live_Qm9vPZ3x7RfKc2T8wLdY',
  password: 'hunter"2 & <co>/é',
  totp: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
  legacy: 'clientTokenOfTheOldService42',
  paid: 'proofThatOnlyThePayerHas77',
  hook: 'unguessablePathOfAReceiver0815',
};

/** All the forms in which a careless service may echo a secret. */
function formsOf(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const html = secret.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
  const within = (text: string) =>
    ['', 'a', 'ab'].map((before) => Buffer.from(before + text).toString('base64'));
  // The first and last characters of base64 depend on the adjacent text.
  const base64 = [...within(secret), ...within(json)].map((text) => text.slice(4, -6));
  return [...new Set([secret, json, encodeURIComponent(secret), html, ...base64])].filter(
    (form) => form.length > 6,
  );
}

/** The whole request as text: line, headers, body. */
async function textOf(request: IncomingMessage): Promise<{ text: string; body: string }> {
  let body = '';
  for await (const chunk of request) body += chunk;
  const headers = Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`);
  return { text: [`${request.method} ${request.url}`, ...headers, '', body].join('\n'), body };
}

const htmlOf = (text: string): string =>
  `<html><body><pre>${text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`)}</pre></body></html>`;

const challenge = (realm: string): string => {
  const request = Buffer.from(JSON.stringify({ amount: '5100', currency: 'usd', decimals: 2 })).toString(
    'base64url',
  );
  return `Payment id="c1", realm="${realm.replace(/["\\\n]/g, '')}", method="sandbox", intent="charge", request="${request}"`;
};

interface Repeated {
  readonly text: string;
  readonly body: string;
  /** The credential as received. */
  readonly credential: string;
}

type Reply = (response: ServerResponse, repeated: Repeated) => void;

const json =
  (status: number, make: (repeated: Repeated) => unknown): Reply =>
  (response, repeated) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(make(repeated)));
  };

const everyForm = ({ text, body }: Repeated): string =>
  [
    text,
    encodeURIComponent(text),
    Buffer.from(text).toString('base64'),
    Buffer.from(body).toString('base64url'),
    htmlOf(text),
    JSON.stringify(text),
  ].join(' | ');

const replies: Readonly<Record<string, Reply>> = {
  'in every field of an error': json(400, (it) => ({
    code: it.credential,
    message: everyForm(it),
    details: { [it.text]: it.text, list: [it.body], identifier: it.credential },
  })),
  'in the places of a validation error': json(422, (it) => ({
    detail: [{ loc: ['body', it.text], msg: everyForm(it), type: it.credential }],
  })),
  'in a problem document': json(500, (it) => ({ title: it.text, detail: everyForm(it), instance: it.body })),
  'in a conflict': json(409, (it) => ({
    code: 'already_exists',
    message: it.text,
    details: { identifier: it.credential, existing: it.body },
  })),
  'in a page': (response, { text }) => {
    response.writeHead(404, { 'content-type': 'text/html' }).end(htmlOf(text));
  },
  'in headers': (response, { text, credential }) => {
    const line = encodeURIComponent(text).slice(0, 4000);
    const headers = {
      location: `https://elsewhere.example/${credential}?x=${line}`,
      'x-request-id': credential,
    };
    response.writeHead(302, { ...headers, 'www-authenticate': `Bearer error="${line}"` }).end();
  },
  'in a challenge': (response, { text, credential }) => {
    const line = text.replaceAll('\n', ' ').replace(/[^\x20-\x7e]/g, '?');
    response
      .writeHead(402, { 'www-authenticate': challenge(line), 'content-type': 'application/problem+json' })
      .end(JSON.stringify({ title: line, detail: credential }));
  },
  'as the id of a success': json(201, (it) => ({
    id: it.credential,
    short_id: it.credential,
    request_id: it.credential,
    status: it.credential,
  })),
  'in what is no response of the service': json(200, (it) => ({
    [it.credential]: it.text,
    message: it.text,
  })),
};

let reply: Reply = () => {};
let paid = 0;
const server = createServer(async (request, response) => {
  const repeated = await textOf(request);
  if (request.url?.startsWith('/agent') && request.headers.authorization === undefined) {
    response.writeHead(402, { 'www-authenticate': challenge('a shop') }).end();
    return;
  }
  if (request.headers.authorization?.startsWith('Payment ')) paid += 1;
  const credential = (request.headers.authorization ?? '').replace(/^\w+ /, '') || secrets.key;
  reply(response, { ...repeated, credential });
});
let workspace: Workspace;

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  workspace = makeWorkspace({
    ERRAND_BASE_URL: url,
    ERRAND_LEGACY_BASE_URL: url,
    ERRAND_API_KEY: secrets.key,
    ERRAND_LEGACY_TOKEN: secrets.legacy,
    ERRAND_TIMEOUT: '5s',
  });
  writeFileSync(join(workspace.folder, 'password'), secrets.password);
  writeFileSync(join(workspace.folder, 'totp'), secrets.totp);
  writeFileSync(join(workspace.folder, 'proof'), JSON.stringify({ payload: { proof: secrets.paid } }));
  writeFileSync(
    join(workspace.folder, 'order.json'),
    JSON.stringify({
      products: [{ url: 'https://shop.example/a' }],
      max_price: 5000,
      shipping_address: address,
      webhooks: { order_placed: `https://hooks.example/${secrets.hook}` },
    }),
  );
});
afterAll(() => {
  server.close();
  workspace.remove();
});

const commands: readonly string[] = [
  "errand order create --new --file order.json --max-price '$50' --yes",
  'errand order list --all',
  'errand order get 6f1c2a52-7c3e-4f7e-9a55-0d6c1b1f2a3b',
  'errand account add --email a@b.example --password-file password --totp-file totp',
  'errand account update zz_acct_1 --password-file password --totp-file totp',
  `errand api POST /anything --unknown-path -H 'X-Api-Key: ${secrets.key}' --input order.json`,
  'errand legacy product https://shop.example/a',
  `errand webhook register --url https://hooks.example/${secrets.hook}`,
  "errand agent order create --new --file order.json --max-price '$50' --yes --max-pay '$99' --pay-command 'cat proof'",
  'errand auth status',
  'errand doctor',
];
const formats = ['table', 'json', 'ndjson --debug', 'yaml'];

/** Everything persisted in the state directory. */
function keptText(): string {
  const folder = join(workspace.folder, '.state');
  return readdirSync(folder)
    .map((name) => readFileSync(join(folder, name), 'latin1'))
    .join('\n');
}

describe('a service that repeats the request', () => {
  test.each(Object.keys(replies))('%s: no command shows or keeps a secret', async (how) => {
    reply = replies[how] ?? reply;
    const leaks: string[] = [];
    for (const [index, command] of commands.entries()) {
      const format = formats[(index + Object.keys(replies).indexOf(how)) % formats.length];
      const { stdout, stderr, code } = await shell(workspace, `${command} -o ${format}`);
      // On success `api` prints the response verbatim.
      if (command.startsWith('errand api') && code === 0) continue;
      for (const [name, secret] of Object.entries(secrets)) {
        for (const form of formsOf(secret)) {
          if ((stdout + stderr).includes(form))
            leaks.push(`${command} -o ${format} shows ${name} as ${form}`);
        }
      }
    }
    const kept = keptText();
    for (const [name, secret] of Object.entries(secrets)) {
      // What an order needs to be sent is kept on purpose: its webhook URLs and its payment proof.
      if (name === 'hook' || name === 'paid') continue;
      for (const form of formsOf(secret)) if (kept.includes(form)) leaks.push(`kept: ${name} as ${form}`);
    }
    expect(leaks).toEqual([]);
    expect(paid).toBeGreaterThan(0);
  });
});
