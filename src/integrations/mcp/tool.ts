import type { z } from 'zod';
import type { JsonObject } from '../../api/json.ts';
import type { Context } from '../../run/context.ts';
import type { ToolArguments } from './arguments.ts';
import type { ToolName } from './names.ts';
import type { JsonSchema } from './untrusted.ts';

/** The effect that a call of the tool may have. */
export type Effect =
  /** Nothing changes, locally or at the service. */
  | 'reads'
  /** Something is stored locally; nothing is ordered. */
  | 'prepares'
  /** Something changes at the service. */
  | 'changes'
  /** Money moves. */
  | 'spends';

/** A question to the client's user. */
export interface Question {
  /** Identifies what the question is about. An answer to a question with a different subject does not count. */
  readonly subject: string;
  readonly message: string;
  /** Label of the affirmative answer. */
  readonly yes: string;
}

export interface Call {
  /** Created for each call, with the settings, the key and the policy current at that moment. */
  readonly context: Context;
  /** Name by which the audit chain identifies the caller. */
  readonly client: string;
  /** Aborted when the client cancels the call. */
  readonly cancelled: AbortSignal;
  /** Whether the server was started with permission to place real orders. */
  readonly isLive: boolean;
  /** JSON Schema of the output of an offered tool, with all fields. */
  outputOf(tool: string): JsonSchema | undefined;
  /** Reports progress, if the client asked for it. */
  progress(done: number, total: number, message: string): Promise<void>;
  /** Whether the client can ask its user. */
  readonly canAsk: boolean;
  /** The user's answer to a question. Undefined if the question was not asked yet. */
  answer(question: Question): 'yes' | 'no' | undefined;
}

/** Result of a tool: a record, or a question to ask first. */
export type Outcome = { readonly record: JsonObject } | { readonly question: Question };

export interface ToolDefinition<A extends ToolArguments> {
  readonly name: ToolName;
  readonly title: string;
  readonly description: string;
  readonly effect: Effect;
  /** Whether repeating a call with the same arguments has no further effect. */
  readonly isIdempotent?: true;
  readonly arguments: A;
  /** Output fields with their schemas. */
  output(): Readonly<Record<string, JsonSchema>>;
  /** Output fields that are always present. */
  readonly certain: readonly string[];
  /**
   * Output fields that contain text from others: from retailers, from sellers, or from anyone else who can add text to
   * an order.
   */
  readonly untrusted?: readonly string[];
  run(call: Call, given: z.output<A>): Promise<Outcome>;
}

/** A tool with its argument types erased. */
export type Tool = Omit<ToolDefinition<ToolArguments>, 'run'> & {
  run(call: Call, given: JsonObject): Promise<Outcome>;
};

/** Defines a tool as data. The types of the parameters of `run` follow from `arguments`. */
export function defineTool<A extends ToolArguments>(definition: ToolDefinition<A>): Tool {
  // This cast is safe, because arguments are validated against the tool's own definition. Therefore they have the
  // declared type.
  return definition as unknown as Tool;
}
