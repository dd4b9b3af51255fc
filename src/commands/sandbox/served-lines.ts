import type { Output } from '../../api/outputs/index.ts';

type Served = Awaited<ReturnType<typeof import('../../sandbox-door.ts').serveSandbox>>;

/** What a script reads first of a sandbox that is served. */
export const readyRecord = (
  { baseUrl, legacyBaseUrl, shopUrl, keys }: Served,
  pid: number,
  hasScenario: boolean,
): Output<'ServedSandbox'> => ({
  base_url: baseUrl,
  legacy_base_url: legacyBaseUrl,
  shop_url: shopUrl,
  pid,
  ...(hasScenario && { keys: keys.map(({ name, apiKey }) => ({ name, api_key: apiKey })) }),
});

/** The same for a person: where it is, and the keys of its scenario or how to get one. */
export const firstLines = ({ baseUrl, shopUrl, consoleUrl, keys }: Served): string => {
  const minting = `curl -sX POST ${baseUrl}/sandbox/keys`;
  const shown = keys.length > 0 ? keys.map(({ name, apiKey }) => `${apiKey}  ${name}`) : [minting];
  return `serving on ${baseUrl}\n  console  ${consoleUrl}\n  shop     ${shopUrl}\n${shown.map((key) => `  key      ${key}\n`).join('')}`;
};
