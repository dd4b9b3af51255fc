import { redacted } from '../../platform/redact/redactor.ts';
import type { KeySource } from '../credentials.ts';
import { type Described, describeRequest } from '../describe.ts';
import type { Transport } from './transport.ts';

/** Whether a request is shown in place of being sent. */
type IsShown = (method: string) => boolean;

/** Carries nothing that is to be shown: `show` throws it to whoever prints it. The rest goes by `transport`. */
export const previewTransport = (
  transport: Transport,
  isShown: IsShown,
  show: (described: Described) => never,
): Transport => ({
  send: async (request) =>
    isShown(request.method) ? show(describeRequest(request)) : transport.send(request),
  close: () => transport.close(),
});

/** Stands for the key of a request that is shown: no key is needed, made or read for it. */
export const previewKeys =
  (isShown: IsShown, stored: KeySource): KeySource =>
  async (request) => {
    if (!isShown(request.method)) return undefined;
    return request.isOptional && (await stored(request)) === undefined ? undefined : redacted;
  };
