import { ErrandError } from '../errors.ts';

/**
 * Whether what keeps a watch from its response may pass by itself. Of a service that has never answered only what is
 * worth another attempt: HTML stays HTML.
 */
export const isBlip = (error: unknown, hasAnswered: boolean): error is ErrandError =>
  error instanceof ErrandError &&
  error.category === 'unavailable' &&
  (hasAnswered || error.facts.retryable !== false);
