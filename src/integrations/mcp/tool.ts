import type { z } from 'zod';
import type { JsonObject } from '../../api/json.ts';
import type { Context } from '../../run/context.ts';
import type { ToolArguments } from './arguments.ts';
import type { ToolName } from './names.ts';
import type { JsonSchema } from './untrusted.ts';

/** What calling a tool can do. */
export type Effect =
  /** Nothing changes, here or at the service. */
  | 'reads'
  /** Something is kept here; nothing is ordered. */
  | 'prepares'
  /** Something changes at the service. */
  | 'changes'
  /** Money moves. */
  | 'spends';

/** A question for the user of the client. */
export interface Question {
  readonly message: string;
  /** What saying yes means. */
  readonly yes: string;
}

/** One call of a tool. */
export interface Call {
  /** Of this call alone: settings, key and policy as they are now. */
  readonly context: Context;
  /** Who calls, as the audit chain names it. */
  readonly client: string;
  /** Aborted where the client gives the call up. */
  readonly cancelled: AbortSignal;
  /** Whether whoever started the server allows real orders. */
  readonly isLive: boolean;
  /** Tells the client how far it is, where it wants to know. */
  progress(done: number, total: number, message: string): Promise<void>;
  /** Whether the client can ask its user. */
  readonly canAsk: boolean;
  /** What the user has said to the question of this call; undefined where they were not asked yet. */
  readonly answer: 'yes' | 'no' | undefined;
}

/** What a tool gives back. */
export type Outcome = { readonly record: JsonObject } | { readonly question: Question };

export interface ToolDefinition<A extends ToolArguments> {
  readonly name: ToolName;
  readonly title: string;
  readonly description: string;
  readonly effect: Effect;
  /** Whether calling it again with the same arguments changes nothing more. */
  readonly isIdempotent?: true;
  readonly arguments: A;
  /** The fields of what it gives back, each with its schema. */
  output(): Readonly<Record<string, JsonSchema>>;
  /** Those of them that are always there. */
  readonly certain: readonly string[];
  /** Those of them that hold text of retailers, sellers or whoever else wrote into an order. */
  readonly untrusted?: readonly string[];
  run(call: Call, given: z.output<A>): Promise<Outcome>;
}

/** A tool whose argument types are known to nobody but itself. */
export type Tool = Omit<ToolDefinition<ToolArguments>, 'run'> & {
  run(call: Call, given: JsonObject): Promise<Outcome>;
};

/** Defines a tool as data; the types of what `run` gets follow from `arguments`. */
export function defineTool<A extends ToolArguments>(definition: ToolDefinition<A>): Tool {
  // What it is given was checked against its own definition, so the erased type is the declared one.
  return definition as unknown as Tool;
}
