import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, onTestFinished } from 'vitest';
import { cutLineTo, cutsOf } from '../../support/cut-line.ts';
import { orderBody } from '../../support/order-body.ts';
import { TestService } from '../../support/service.ts';

const run = promisify(execFile);

/**
 * Has a client buy, and send its payment again, wherever the response is cut: one order for each payment.
 * @param client prints its purchases as JSON; `proof` is the field with what the service says of a payment.
 */
export async function paysOnceWhereverCut(
  client: string,
  proof: string,
  schemes?: readonly 'x402'[],
): Promise<void> {
  let made = 0;
  const service = await TestService.start({
    now: Date.now(),
    ...(schemes && { config: { paymentSchemes: schemes } }),
    onRequest: ({ status }) => {
      if (status === 201) made += 1;
    },
  });
  onTestFinished(() => service.stop());
  const line = await cutLineTo(service.baseUrl);
  const body = JSON.stringify(orderBody(service.product('test-success')));
  const buy = async (orders: number) => {
    const args = [client, `${line.url}/agent/orders`, body, `${orders}`];
    return JSON.parse((await run(process.execPath, args)).stdout);
  };
  made = 0;
  expect(await buy(1)).toMatchObject([{ asked: 402, made: 201, again: 409 }]);
  const cuts = cutsOf(line.answer);
  line.cuts.push(...cuts);
  const bought: { readonly existing: string }[] = await buy(cuts.length);
  expect(bought).toEqual(
    cuts.map(() => expect.objectContaining({ asked: 402, again: 409, [proof]: expect.anything() })),
  );
  expect([line.cuts, bought.filter((one) => 'made' in one)]).toEqual([[], []]);
  expect(new Set(bought.map(({ existing }) => existing)).size).toBe(cuts.length);
  expect([made, line.payments.size]).toEqual([cuts.length + 1, cuts.length + 1]);
}
