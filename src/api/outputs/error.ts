import { z } from 'zod';
import { nextSteps, own, text, whole } from './fields.ts';

/** Failure report of any command. */
export const ErrorReport = own({
  category: z.enum([
    'unexpected',
    'usage',
    'authentication',
    'not_found',
    'conflict',
    'payment',
    'ended_badly',
    'deadline',
    'unavailable',
    'in_doubt',
    'policy',
    'interrupted',
    'terminated',
  ]),
  code: text.nullable().describe('the code of the service, or one of its error types'),
  message: text,
  status: whole.nullable().describe('the HTTP status'),
  exit_code: whole,
  details: z.unknown().describe('as the service gave them; null where it gave none'),
  hint: text.nullable(),
  request_id: text.nullable(),
  attempts: whole.nullable(),
  retryable: z.boolean().nullable(),
  retry_after_ms: z.number().nullable(),
  idempotency_key: text.nullable(),
  outcome: z
    .enum(['not_sent', 'rejected', 'applied', 'unknown'])
    .nullable()
    .describe('what became of the request'),
  next: nextSteps,
  stack: text.optional().describe('with --debug alone'),
});

/** The line that a failing command prints on stderr. */
export const ErrorOutput = own({ error: ErrorReport });
