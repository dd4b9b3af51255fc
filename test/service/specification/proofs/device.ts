import type { ServiceResponse, TestService } from '../../../support/service.ts';

/** Starts a device sign-in. */
export const startDevice = async (it: TestService): Promise<ServiceResponse['body']> =>
  (await it.send('POST', '/device/code', undefined, null)).body;

/** Polls for the key of a device sign-in. */
export const poll = (it: TestService, device_code: string): Promise<ServiceResponse> =>
  it.send('POST', '/device/token', { device_code }, null);
