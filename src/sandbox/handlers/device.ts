import { pollDevice, startDevice } from '../device/codes.ts';
import type { AllHandlers } from '../http/handler.ts';

export const deviceHandlers = {
  'device.code': async (service, { body, request, now }) => ({
    value: await startDevice(service, { name: body.name ?? null, from: request.remoteAddress, now }),
  }),

  'device.token': async (service, { body, now }) => ({
    value: await pollDevice(service, body.device_code, now),
  }),
} satisfies Partial<AllHandlers>;
