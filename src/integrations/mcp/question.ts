import { type InputRequiredResult, inputRequired, type ServerContext } from '@modelcontextprotocol/server';
import { own, textIn } from '../../api/json.ts';
import { ErrandError } from '../../platform/errors.ts';
import type { Call, Question } from './tool.ts';

const questionName = 'confirm';
const yesName = 'yes';

/** How long the user has to answer, ms. */
const waitMs = 10 * 60 * 1000;

const form = ({ message, yes }: Question) => ({
  message,
  requestedSchema: {
    type: 'object' as const,
    properties: { [yesName]: { type: 'boolean' as const, title: yes, default: false } },
    required: [yesName],
  },
});

/** A question as the result of a call, which the client makes again with the response. */
export const asked = (question: Question): InputRequiredResult =>
  inputRequired({ inputRequests: { [questionName]: inputRequired.elicit(form(question)) } });

/**
 * Asks the user of a client of the older protocol, while its call waits.
 * @throws ErrandError where the client cannot; a yes alone sends anything.
 */
export async function responsesTo(
  question: Question,
  tool: string,
  { send, signal }: ServerContext['mcpReq'],
): Promise<Readonly<Record<string, unknown>>> {
  const params = { mode: 'form', ...form(question) };
  try {
    const response = await send({ method: 'elicitation/create', params }, { signal, timeout: waitMs });
    return { [questionName]: response };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ErrandError('interrupted', `the client could not ask its user; nothing was sent: ${reason}`, {
      code: 'question_failed',
      outcome: 'not_sent',
      retryable: true,
      hint: `Tell the user. Calling ${tool} again asks again.`,
      cause: error,
    });
  }
}

/** Anything but a yes is a no. */
export function answerIn(responses: unknown): Call['answer'] {
  const response = own(responses, questionName);
  if (response === undefined) return undefined;
  const isYes = textIn(response, 'action') === 'accept' && own(own(response, 'content'), yesName) === true;
  return isYes ? 'yes' : 'no';
}
