import { pollDevice, startDevice } from '../device/codes.ts';
import type { AllHandlers } from '../handler.ts';

export const deviceHandlers = {
  'device.code': (service, { body, request, now }) => ({
    value: startDevice(service, { name: body.name ?? null, from: request.remoteAddress, now }),
  }),

  'device.token': (service, { body, now }) => ({ value: pollDevice(service, body.device_code, now) }),
} satisfies Partial<AllHandlers>;
