import { Readable } from 'node:stream';
import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type InputRequiredResult,
  type Tool as ListedTool,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { own } from '../../api/json.ts';
import { letGo } from '../../orders/let-go.ts';
import { withOutcome } from '../../orders/outcome.ts';
import { reportShown } from '../../orders/report.ts';
import type { Io } from '../../platform/io.ts';
import { typedCommand } from '../../platform/shell-word.ts';
import type { Context } from '../../run/context.ts';
import { answered, failed, inToolsWords, listed } from './answer.ts';
import { readArguments } from './arguments.ts';
import { canAsk, clientName } from './client-facts.ts';
import { checkLive } from './guard.ts';
import { answerIn, asked, responsesTo } from './question.ts';
import type { Tool } from './tool.ts';
import type { Wire } from './wire.ts';

interface Serving {
  readonly context: Context;
  readonly wire: Wire;
  readonly tools: readonly Tool[];
  readonly isLive: boolean;
}

/** Calls of tools: each is a run of its own, with settings, key and policy as they are at that moment. */
export class Calls {
  readonly #serving: Serving;
  /** What must come to its end before the process does. */
  readonly #open = new Set<Promise<unknown>>();
  readonly #io: Io;

  constructor(serving: Serving) {
    this.#serving = serving;
    const { stderr, commandName, programFile } = serving.context.io;
    const notes = { ...stderr, isTerminal: false, columns: () => undefined };
    // Stdout is the protocol's alone, and nobody can be asked.
    this.#io = {
      stdin: { stream: Readable.from([]), isTerminal: false },
      stdout: notes,
      stderr: notes,
      ...(commandName && { commandName }),
      programFile,
    };
  }

  list(): ListedTool[] {
    return this.#serving.tools.map(listed);
  }

  /** Calls a tool. A failure is an answer too. @throws ProtocolError for a tool that is not offered. */
  async handle(
    server: Server,
    { name, arguments: given }: { readonly name: string; readonly arguments?: unknown },
    { mcpReq }: ServerContext,
  ): Promise<CallToolResult | InputRequiredResult> {
    const tool = this.#serving.tools.find((one) => one.name === name);
    if (!tool)
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `there is no tool of this name; offered are ${this.#serving.tools.map((one) => one.name).join(', ')}`,
      );
    const work = this.#run(tool, given, server, mcpReq);
    this.#open.add(work);
    try {
      return await work;
    } finally {
      this.#open.delete(work);
    }
  }

  /** Once every call has come to its end, whatever that is. */
  async settled(): Promise<void> {
    while (this.#open.size > 0) await Promise.allSettled(this.#open);
  }

  async #run(
    tool: Tool,
    given: unknown,
    server: Server,
    request: ServerContext['mcpReq'],
  ): Promise<CallToolResult | InputRequiredResult> {
    const { context: whole, isLive } = this.#serving;
    const { envelope, signal: cancelled } = request;
    const client = clientName(own(envelope, CLIENT_INFO_META_KEY) ?? server.getClientVersion());
    // An order on its way is settled even where nobody waits for it any more; only the end of the process ends it.
    const signal = tool.effect === 'reads' ? AbortSignal.any([whole.signal, cancelled]) : whole.signal;
    const command = `errand mcp ${tool.name}`;
    let run: Context | undefined;
    try {
      const fields = readArguments(tool.name, tool.arguments, given);
      run = await whole.anew({ io: this.#io, signal, program: client, command });
      checkLive(run, isLive);
      const outcome = await tool.run(
        {
          context: run,
          client,
          cancelled,
          isLive,
          progress: (done, total, message) => progress(request, done, total, message),
          canAsk: canAsk(own(envelope, CLIENT_CAPABILITIES_META_KEY) ?? server.getClientCapabilities()),
          answer: answerIn(request.inputResponses),
        },
        fields,
      );
      if ('question' in outcome) {
        // The newer protocol has the client ask, and call again with what its user said.
        if (envelope) return asked(outcome.question);
        const inputResponses = await responsesTo(outcome.question, tool.name, request);
        return await this.#run(tool, given, server, { ...request, inputResponses });
      }
      return answered(tool, outcome.record);
    } catch (error) {
      const intents = run?.unreported() ?? [];
      const told = withOutcome(error, { intents, hasWritten: run?.hasWritten() ?? false, record: undefined });
      return failed(inToolsWords(told, typedCommand(whole.argv), `call ${tool.name} again`));
    } finally {
      if (run) this.#end(run, request, cancelled);
    }
  }

  /** What became of an intent is known to whoever asked once the answer is out. */
  #end(run: Context, { id }: ServerContext['mcpReq'], cancelled: AbortSignal): void {
    const ended = new Promise<boolean>((resolve) => {
      if (cancelled.aborted) resolve(false);
      else this.#serving.wire.afterAnswer(id, resolve);
    })
      .then((isSent) => (isSent ? reportShown(run) : undefined))
      .then(() => letGo(run))
      .finally(() => run.close());
    this.#open.add(ended);
    const forget = (): void => void this.#open.delete(ended);
    ended.then(forget, (error: Error) => {
      forget();
      this.#serving.context.note(`warning: ${error.message}`);
    });
  }
}

async function progress(
  { _meta: meta, notify }: ServerContext['mcpReq'],
  done: number,
  total: number,
  message: string,
): Promise<void> {
  const progressToken = meta?.progressToken;
  if (progressToken === undefined) return;
  await notify({
    method: 'notifications/progress',
    params: { progressToken, progress: done, total, message },
  });
}
