import type { AllHandlers } from '../server/handler.ts';
import { pollDevice, startDevice } from './codes.ts';

export const deviceHandlers = {
  'device.code': async (service, { body, request, now }) => ({
    value: await startDevice(service, { name: body.name ?? null, from: request.remoteAddress, now }),
  }),

  'device.token': async (service, { body, now }) => ({
    value: await pollDevice(service, body.device_code, now),
  }),
} satisfies Partial<AllHandlers>;
