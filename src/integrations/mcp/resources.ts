import {
  type ListResourcesResult,
  type ListResourceTemplatesResult,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
} from '@modelcontextprotocol/server';
import type { SchemaName } from '../../api/schemas/index.ts';
import { journalExists } from '../../journal/journal-tables.ts';
import { observeOrder } from '../../orders/observed.ts';
import { quotedBody } from '../../orders/submit/quoted.ts';
import { ErrandError } from '../../platform/errors.ts';
import type { Context } from '../../run/context.ts';
import { loadPolicy } from '../../spending/policy/load.ts';
import { noPolicy } from '../../spending/policy/none.ts';
import { rulesOf, termsOf } from '../../spending/policy/rules.ts';
import { shownUsage } from '../../spending/policy/settle.ts';
import { countAndRemember } from '../../standing/counting.ts';
import { entriesOf, readEntryFile } from '../../standing/file.ts';
import { RunMemory } from '../../standing/memory.ts';
import { shownEntry } from '../../standing/shown.ts';
import { addressLine } from './address-line.ts';
import { checkLive } from './guard.ts';
import { agentIo } from './io.ts';
import type { ToolName } from './names.ts';
import { shown } from './tools/shapes.ts';
import { delimited, fitted, type JsonSchema } from './untrusted.ts';

interface Serving {
  readonly context: Context;
  readonly isLive: boolean;
  /** Names of the tools to offer; all if unset. */
  readonly names: readonly ToolName[] | undefined;
}

/** Data that an agent can read at a URI. Reading a resource never changes anything. */
interface Family {
  readonly uri: string;
  readonly name: string;
  readonly description: string;
  /** The tool that shows the same data. The resource is offered only if this tool is. */
  readonly tool: ToolName | undefined;
  /** URI template for a single member of the resource, and the name of the template. */
  readonly one?: { readonly uriTemplate: string; readonly name: string };
  /** Whether some of its text was written by retailers or sellers. */
  readonly isUntrusted?: true;
  /** Reads all members, or only the one with the given name. Undefined if there is no member of that name. */
  read(context: Context, name: string | undefined): Promise<unknown>;
}

const maxOrders = 10;
const maxQuotes = 50;
const anything = { type: 'object' };
const response = (name: SchemaName): JsonSchema => ({
  type: 'object',
  properties: { orders: { type: 'array', items: shown(name) } },
});

const standing: Family = {
  uri: 'errand://standing',
  name: 'standing orders',
  description: 'what is bought again and again, with the next dates',
  tool: undefined,
  one: { uriTemplate: 'errand://standing/{name}', name: 'standing order' },
  async read(context, name) {
    const entries = await shownEntries(context);
    return name === undefined ? entries : entries.find((entry) => entry.name === name);
  },
};

const families: readonly Family[] = [
  standing,
  {
    uri: 'errand://orders',
    name: 'orders',
    description: `the ${maxOrders} newest orders`,
    tool: 'order_list',
    one: { uriTemplate: 'errand://orders/{order_id}', name: 'order' },
    isUntrusted: true,
    async read(context, id) {
      const client = await context.client();
      if (id === undefined) {
        const { body } = await client.call('order.list', { query: { limit: maxOrders } });
        return fitted(response('OrderResponse'), body).value;
      }
      const { body: order } = await client.call('order.get', { path: { order_id: id } });
      await observeOrder(context, order);
      return fitted(shown('OrderResponse'), order).value;
    },
  },
  {
    uri: 'errand://quotes',
    name: 'quotes',
    description: 'what was quoted here, and what became of it; the handle that places a quote is never shown',
    tool: 'order_quote',
    isUntrusted: true,
    read: async (context) => fitted(anything, { quotes: await shownQuotes(context) }).value,
  },
  {
    uri: 'errand://policy',
    name: 'policy',
    description: 'the rules that orders are held to, and what each limit has left',
    tool: 'wallet',
    read: shownPolicy,
  },
];

const prefixOf = ({ uri }: Family): string => `${uri}/`;

/** Reads the resources. Each read uses the settings, the key and the policy that are current when it starts. */
export class Resources {
  readonly #serving: Serving;
  readonly #families: readonly Family[];

  constructor(serving: Serving) {
    this.#serving = serving;
    const { names } = serving;
    this.#families = families.filter(({ tool }) => !names || tool === undefined || names.includes(tool));
  }

  async list(): Promise<ListResourcesResult> {
    const entries = await this.#within('resources', standing, shownEntries);
    return {
      resources: [
        ...this.#families.map((family) => {
          const { uri, name, description } = family;
          return { uri, name, description, mimeType: mimeType(family) };
        }),
        ...entries.map(({ name, next_dates: [next] }) => ({
          uri: `errand://standing/${name}`,
          name: `standing order ${name}`,
          description: next ? `next on ${next.date}` : 'nothing is to come',
          mimeType: 'application/json',
        })),
      ],
    };
  }

  templates(): ListResourceTemplatesResult {
    return {
      resourceTemplates: this.#families.flatMap((family) =>
        family.one ? [{ ...family.one, mimeType: mimeType(family) }] : [],
      ),
    };
  }

  /**
   * Reads one resource.
   * @throws ProtocolError if there is no such resource.
   */
  async read(uri: string): Promise<ReadResourceResult> {
    const family = this.#families.find(
      (one) => uri === one.uri || (one.one && uri.startsWith(prefixOf(one))),
    );
    const name = family && uri !== family.uri ? uri.slice(prefixOf(family).length) : undefined;
    const found = family && (await this.#within(family.uri, family, (run) => family.read(run, name)));
    if (found === undefined)
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        'there is no resource of this address; resources/list has those there are',
      );
    const json = JSON.stringify(found);
    const text = family?.isUntrusted ? delimited(json, [family.name]) : json;
    return { contents: [{ uri, mimeType: family ? mimeType(family) : 'text/plain', text }] };
  }

  /** @throws ProtocolError if the read fails. Its message contains only errand's own words. */
  async #within<T>(
    what: string,
    { tool }: Pick<Family, 'tool'>,
    read: (context: Context) => Promise<T>,
  ): Promise<T> {
    const { context, isLive } = this.#serving;
    const command = `errand mcp ${what}`;
    const { signal } = context;
    const run = await context.withOverrides({ io: agentIo(context), signal, program: 'errand mcp', command });
    try {
      if (tool !== undefined) checkLive(run, isLive);
      return await read(run);
    } catch (error) {
      if (!(error instanceof ErrandError)) throw error;
      const { status } = error.facts;
      const isMissing = error.category === 'not_found' || error.category === 'usage';
      throw new ProtocolError(
        isMissing ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError,
        status === undefined
          ? error.message
          : `the service refused to show it (${status}, ${error.category})`,
      );
    } finally {
      await run.close();
    }
  }
}

/** Marked text is not JSON. */
const mimeType = ({ isUntrusted }: Family): string => (isUntrusted ? 'text/plain' : 'application/json');

async function shownEntries(context: Context) {
  const file = readEntryFile(context, undefined);
  const entries = await entriesOf(file);
  const memory = new RunMemory(context);
  return entries.map((entry) =>
    shownEntry(countAndRemember(context, { file, memory, entry }).entry, file.path, context.clock.now()),
  );
}

async function shownQuotes(context: Context) {
  if (!journalExists(context.settings)) return [];
  const { quotes } = await context.journal();
  const now = context.clock.now();
  const sender = await context.sender();
  return quotes.newest({ ...sender, baseUrl: context.settings.baseUrl.value }, maxQuotes).map((quote) => {
    const { id, usedAt, orderId, expiresAt, reference, client } = quote;
    const { products, max_price: ceiling, shipping_address: to } = quotedBody(quote);
    return {
      id: id.slice(0, 16),
      state: usedAt !== undefined || orderId !== undefined ? 'used' : now < expiresAt ? 'open' : 'expired',
      expires_at: new Date(expiresAt).toISOString(),
      used_at: usedAt ?? null,
      order_id: orderId ?? null,
      products: products.map(({ url, quantity }) => ({ url, quantity })),
      ceiling_cents: ceiling,
      ships_to: addressLine(to),
      reference: reference ?? null,
      client,
    };
  });
}

async function shownPolicy(context: Context) {
  const policy = await loadPolicy(context);
  const isRehearsal = context.isRehearsal();
  const isFree = !policy || (isRehearsal && policy.rehearsals === 'exempt');
  return {
    rehearsal: isRehearsal,
    note: policy ? (isFree ? 'the policy does not count rehearsals' : null) : noPolicy(context),
    rules: policy ? rulesOf(policy) : [],
    terms: policy ? termsOf(policy) : [],
    limits: isFree ? [] : await shownUsage(context, policy, { refresh: false, isRehearsal }),
  };
}
