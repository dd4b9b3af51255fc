import { describe, expect, onTestFinished, test } from 'vitest';
import { type ToolName, toolNames } from '../../../src/integrations/mcp/names.ts';
import { exitCodes } from '../../../src/platform/errors.ts';
import { prefer } from '../../support/workspace.ts';
import type { Agent } from './agent.ts';
import { type ClientLine, clients, inTurn } from './client-lines.ts';
import type { Trouble } from './go-between.ts';
import { Scene } from './scene.ts';

const someId = '11111111-2222-4333-8444-555555555555';
const order_id = someId;

/** Valid arguments for each tool. */
const givenTo: Readonly<Record<ToolName, (scene: Scene) => Record<string, unknown>>> = {
  search: () => ({ q: 'coffee' }),
  product_get: () => ({ product_id: 'P1234567', retailer: 'harborgoods' }),
  retailer_check: (scene) => ({ url: scene.service.product('test-success') }),
  retailers: () => ({}),
  order_quote: (scene) => scene.order(),
  order_place: () => ({ quote: 'none' }),
  order_get: () => ({ order_id }),
  order_list: () => ({}),
  order_watch: () => ({ order_id, wait_seconds: 1 }),
  order_cancel: () => ({ order_id }),
  order_explain: () => ({ id: someId }),
  return_create: () => ({ order_id, items: [{ order_item_id: someId }], reason: 'damaged' }),
  wallet: () => ({}),
  describe_operation: () => ({}),
  call_operation: () => ({ operation: 'order.list' }),
};
const tools = Object.keys(toolNames) as ToolName[];
/** Tools that move or reclaim money: unless the service itself rejects the request, the outcome is unknown. */
const moving: readonly ToolName[] = ['order_place', 'return_create'];
const reading = tools.filter((name) => name !== 'describe_operation' && !moving.includes(name));

const refusal = (status: number, code: string, details: unknown = {}): Trouble => ({
  status,
  body: JSON.stringify({ code, message: `the service says ${code}`, details }),
});

/** More details, and deeper ones, than a model is given. */
const manyDetails = Object.fromEntries(
  Array.from({ length: 20 }, (_, at) => [
    `field ${at}`,
    JSON.parse(`${'[{"a":'.repeat(3)}${JSON.stringify(Array(10).fill('x'.repeat(250)))}${'}]'.repeat(3)}`),
  ]),
);

/** The fault, the expected error, and the expected error for tools that move money. */
type Kind = readonly [Trouble, Record<string, unknown>, Record<string, unknown>?];

const inDoubt = { category: 'in_doubt', outcome: 'unknown' };
const kinds: Readonly<Record<string, Kind>> = {
  'refuses the key': [
    refusal(401, 'unauthorized'),
    { category: 'authentication', code: 'unauthorized', status: 401, outcome: 'rejected' },
  ],
  'wants to be paid': [
    refusal(402, 'insufficient_funds'),
    { category: 'payment', code: 'insufficient_funds', outcome: 'rejected' },
  ],
  'names a field': [
    { status: 422, body: '{"detail":[{"loc":["body","x"],"msg":"no","type":"y"}]}' },
    { category: 'usage', code: 'validation_error', outcome: 'rejected' },
  ],
  'is away, and says more than can be read': [
    refusal(503, 'unavailable', manyDetails),
    { category: 'unavailable' },
    { ...inDoubt, code: 'unavailable' },
  ],
  'limits the rate': [refusal(429, 'rate_limited'), { category: 'unavailable' }, inDoubt],
  'is away': [refusal(503, 'unavailable'), { category: 'unavailable' }, inDoubt],
  'sends a page': [{ body: '<html>' }, { category: 'unavailable' }, inDoubt],
  'breaks off': [{ dropsResponse: true }, { category: 'unavailable' }, inDoubt],
};

async function begin(line: ClientLine, policy?: string): Promise<Scene> {
  const scene = await Scene.begin(line, policy === undefined ? {} : { policy });
  onTestFinished(() => scene.end());
  prefer(scene.workspace, { retries: 0 });
  return scene;
}

/** Checks the shape of a refusal: the same fields are always present, possibly null. */
async function refused(agent: Agent, name: string, given: Record<string, unknown>) {
  const error = await agent.refused(name, given);
  expect(Object.keys(exitCodes)).toContain(error.category);
  expect(error.message).toMatch(/\w/);
  for (const field of ['code', 'outcome', 'hint']) expect(error).toHaveProperty(field);
  for (const { command, when } of error.for_a_person) expect(command && when).toMatch(/\w/);
  return error;
}

const commandsIn = (error: { readonly for_a_person: readonly { readonly command: string }[] }): string[] =>
  error.for_a_person.map(({ command }) => command);

describe.each(clients)('every refusal reaches the model (%s)', (line) => {
  const testInTurn = inTurn(line);

  testInTurn('arguments that a tool does not take', async () => {
    const scene = await begin(line);
    const agent = await scene.agent();
    for (const tool of tools)
      expect(await refused(agent, tool, { ...givenTo[tool](scene), nosuch: 1 })).toMatchObject({
        category: 'usage',
        code: 'invalid_arguments',
        outcome: 'not_sent',
        message: expect.stringContaining('nosuch'),
      });
    for (const tool of ['describe_operation', 'call_operation'])
      expect(await refused(agent, tool, { operation: 'nosuch' })).toMatchObject({
        code: 'operation_not_offered',
      });
    expect(await refused(agent, 'order_place', { quote: 'none' })).toMatchObject({
      code: 'unknown_quote',
      outcome: 'not_sent',
    });
  });

  for (const [kind, [trouble, read, moved]] of Object.entries(kinds))
    testInTurn(`the service ${kind}`, async () => {
      const scene = await begin(line);
      const agent = await scene.agent();
      const quote = await scene.quote(agent);
      scene.between.trouble = () => trouble;
      for (const tool of reading)
        expect(await refused(agent, tool, givenTo[tool](scene)), tool).toMatchObject(read);
      const { return_create: returned } = givenTo;
      const ofReturn = await refused(agent, 'return_create', returned(scene));
      if (moved) expect(ofReturn).toMatchObject(moved);
      scene.between.trouble = (request) => (request === 'POST /orders' ? trouble : undefined);
      const ofOrder = await refused(agent, 'order_place', { quote });
      expect(ofOrder).toMatchObject(moved ?? read);
      if (!moved) return;
      expect(ofOrder.hint).toContain('place the same quote again');
      expect(commandsIn(ofOrder)[0]).toMatch(/^errand order journal resume \S+$/);
    });

  testInTurn('what the policy refuses, or a person must approve', async () => {
    const scene = await begin(line, 'limits: { per_order: $100 }\napprove: { above: $20 }');
    const agent = await scene.agent();
    expect(await refused(agent, 'order_quote', scene.order(10_000))).toMatchObject({
      category: 'policy',
      code: 'policy_refused',
      outcome: 'not_sent',
    });
    const error = await refused(agent, 'order_place', { quote: await scene.quote(agent) });
    expect(error).toMatchObject({ code: 'approval_required', outcome: 'not_sent' });
    expect(commandsIn(error)).toContain(`errand approval approve ${error.details.approval.id}`);
  });

  testInTurn('what the state of an order refuses', async () => {
    const scene = await begin(line);
    const agent = await scene.agent();
    const { order } = await agent.get('order_place', { quote: await scene.quote(agent) });
    const again = await refused(agent, 'order_place', { quote: await scene.quote(agent) });
    expect(again).toMatchObject({ category: 'conflict', code: 'repeated_order', outcome: 'applied' });
    expect(again.details).toMatchObject({ order_id: order.id });
    scene.service.pass(60_000);
    expect(await refused(agent, 'order_cancel', { order_id: order.id })).toMatchObject({
      category: 'conflict',
      code: 'order_not_cancellable',
    });
    expect(await refused(agent, 'order_get', { order_id })).toMatchObject({
      category: 'not_found',
      code: 'not_found',
    });
  });

  testInTurn('a user who says no', async () => {
    const scene = await begin(line);
    const agent = await scene.agent({ says: 'no' });
    const quote = await scene.quote(agent);
    expect(await refused(agent, 'order_place', { quote })).toMatchObject({
      code: 'declined',
      outcome: 'not_sent',
    });
    expect(await scene.orders()).toEqual([]);
  });
});

// In the newer protocol the client asks its user itself, which ends the call.
test.each(clients.filter((line) => line.endsWith('2025-11-25')))(
  'a client that fails to ask its user reads that nothing was sent (%s)',
  async (line) => {
    const scene = await begin(line);
    const agent = await scene.agent({ says: 'error' });
    const quote = await scene.quote(agent);
    const error = await refused(agent, 'order_place', { quote });
    expect(error).toMatchObject({ category: 'interrupted', code: 'question_failed', outcome: 'not_sent' });
    expect(error.message).toContain('there is no window to ask in');
    expect(await scene.orders()).toEqual([]);
    const willing = await scene.agent({ says: 'yes' });
    await willing.get('order_place', { quote });
    expect(await scene.orders()).toHaveLength(1);
  },
);
