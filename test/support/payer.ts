import type { ServiceResponse, TestService } from './service.ts';

type Fields = Record<string, string>;

/** Parses the challenges of a response. `fetch` joins the repeated header lines with a comma. */
export const challengesOf = ({ headers }: ServiceResponse): Fields[] =>
  (headers.get('www-authenticate') ?? '')
    .split(/, (?=Payment )/)
    .map((line) =>
      Object.fromEntries([...line.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, value]) => [key, value])),
    );

export function challengeFor(response: ServiceResponse, method = 'sandbox'): Fields {
  const found = challengesOf(response).find((challenge) => challenge.method === method);
  if (!found) throw new Error(`no challenge of ${method} in ${response.status} ${response.text}`);
  return found;
}

export const decoded = (text: string | null | undefined): ReturnType<typeof JSON.parse> =>
  JSON.parse(Buffer.from(text ?? '', 'base64url').toString('utf8'));

export const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

export const approval = { type: 'sandbox', authorization: 'approve' };

export const credentialOf = (challenge: unknown, payload: unknown = approval): string =>
  `Payment ${encoded({ challenge, payload })}`;

/** Sends a request with an optional credential. */
export const sendPaid = (
  service: TestService,
  target: string,
  body: unknown,
  authorization?: string,
): Promise<ServiceResponse> =>
  service.send('POST', target, body, null, authorization === undefined ? {} : { authorization });

/** Requests the price and pays it, as a client of the scheme does. */
export async function pay(
  service: TestService,
  target: string,
  body: unknown,
  method = 'sandbox',
  payload?: unknown,
) {
  const unpaid = await sendPaid(service, target, body);
  const authorization = credentialOf(challengeFor(unpaid, method), payload);
  return { authorization, response: await sendPaid(service, target, body, authorization) };
}
