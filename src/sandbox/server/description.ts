import type { AllHandlers } from './handler.ts';

export const descriptionHandlers = {
  'openapi.get': async ({ config, catalogue }) => {
    const { openApiDocument } = await import('../../api/openapi.ts');
    const document = openApiDocument({
      baseUrl: config.baseUrl,
      legacyBaseUrl: config.baseUrl,
      retailers: (await catalogue()).retailerIds(),
    });
    return { text: JSON.stringify(document) };
  },
} satisfies Partial<AllHandlers>;
