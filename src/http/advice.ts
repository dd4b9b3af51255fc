/** What helps where the service does not respond as it should, to whoever calls it: a person, or a program. */
export interface Advice {
  /** It responds with something else. */
  readonly baseUrl: string;
  /** It cannot be reached. */
  readonly network: string;
  /** It takes too long. */
  readonly timeout: string;
  /** It may have placed an order whose key is known. */
  readonly inDoubt: string;
}

/** It may have carried out what has no key, whoever asks. */
export const checkFirst = 'Check whether it took effect before you send it again.';

export const adviceToPeople: Advice = {
  baseUrl: 'Is the base URL right? `errand auth status` shows which one is used.',
  network: 'Check the network and the base URL; `errand auth status` shows which one is used.',
  timeout: 'A longer --timeout waits longer.',
  inDoubt: checkFirst,
};

export const adviceToPrograms: Advice = {
  baseUrl: 'Is the base URL right?',
  network: 'Check the network and the base URL.',
  timeout: 'A longer timeoutMs waits longer.',
  inDoubt:
    'Send the same body with the same idempotency_key again: it is one order, however often it is sent.',
};
