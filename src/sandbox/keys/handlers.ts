import { limits } from '../../api/limits.ts';
import type { Shape } from '../../api/schemas/index.ts';
import { claimPath, type SandboxConfig } from '../config.ts';
import type { AllHandlers } from '../server/handler.ts';
import { pollDevice, startDevice } from './device.ts';
import { claimOf, exampleOrder, mintKey, refuseTooMany } from './keys.ts';

export const keyHandlers = {
  'sandbox.mint': async (service, { body, request, now }) => {
    const { store, config } = service;
    const { key, claimToken } = await store.transaction(() => {
      refuseTooMany(store, request.remoteAddress, config.mintLimitPerDay, now);
      return mintKey(service, { email: body.email, name: body.name, from: request.remoteAddress, now });
    });
    return { value: mintedKey(config, key, claimToken) };
  },

  'sandbox.status': ({ store, config }, { caller }) => {
    const { claimed, token } = claimOf(store, caller.keyHash);
    const hint = claimed
      ? `Claimed at ${new Date(claimed.at).toISOString()}; the key goes on working.`
      : `Sign in at ${claimUrl(config, token)} to claim this sandbox.`;
    return { value: { claimed: claimed !== null, claimed_by_email: claimed?.by ?? null, hint } };
  },
} satisfies Partial<AllHandlers>;

const claimUrl = ({ baseUrl }: SandboxConfig, token: string): string => `${baseUrl}${claimPath}/${token}`;

function mintedKey(config: SandboxConfig, key: string, claimToken: string): Shape<'SandboxKey'> {
  const { baseUrl, shopUrl } = config;
  const days = limits.sandboxKeyIdleSeconds / 86_400;
  return {
    api_key: key,
    key,
    expires_policy: `expires after ${days} days without use`,
    quickstart_url: `${baseUrl}/`,
    example_order: exampleOrder(shopUrl),
    claim_url: claimUrl(config, claimToken),
    next: [
      'POST /orders with example_order places a first order.',
      'GET /orders/{order_id} follows it: delivered in about ten seconds.',
      'GET /orders/test-products lists the products that rehearse other outcomes.',
    ],
  };
}

export const deviceHandlers = {
  'device.code': async (service, { body, request, now }) => ({
    value: await startDevice(service, { name: body.name ?? null, from: request.remoteAddress, now }),
  }),

  'device.token': async (service, { body, now }) => ({
    value: await pollDevice(service, body.device_code, now),
  }),
} satisfies Partial<AllHandlers>;
