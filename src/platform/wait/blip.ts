import { ErrandError } from '../errors.ts';

/**
 * Whether what keeps a watch from its response may pass by itself. Of a service that has never responded only what is
 * worth another attempt: HTML stays HTML.
 */
export const isBlip = (error: unknown, hasResponded: boolean): error is ErrandError =>
  error instanceof ErrandError &&
  error.category === 'unavailable' &&
  (hasResponded || error.facts.retryable !== false);
