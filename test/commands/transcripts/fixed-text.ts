/** Values specific to this machine and run. */
export interface Surroundings {
  readonly baseUrl: string;
  readonly folder: string;
}

/** The service's name in transcripts; as long as the real URL, so that table layouts do not change. */
export const serviceName = 'http://sandbox.example';

/** Nondeterministic values and their replacements. */
const fixed: readonly (readonly [RegExp, string])[] = [
  [/(127\.0\.0\.1:)\d{5}\b/g, '$140000'],
  // A narrow column truncates the port as well.
  ...[1, 2, 3, 4].map((digits): [RegExp, string] => [
    new RegExp(`(127\\.0\\.0\\.1:)\\d{${digits}}…`, 'g'),
    `$1${'40000'.slice(0, digits)}…`,
  ]),
  [/("pid": ?|"process_started": ")\d+/g, '$11000'],
  [/(\/claim\/)[A-Za-z0-9]{24}\b/g, '$1000000000000000000000000'],
  [/(the code )[A-Z]{4}-[A-Z]{4}\b/g, '$1BCDF-GHJK'],
  [/(signature=)[0-9a-f]{64}\b/g, `$1${'0'.repeat(64)}`],
  [/("challengeId": ")[\w-]+/g, '$1CHALLENGE'],
  [/(date: )\w{3}, \d\d \w{3} \d{4} [\d:]{8} GMT/g, '$1Sun, 01 Mar 2026 12:00:00 GMT'],
  // The sequence number depends on load where something polls.
  [/(request |request_id"?: ?"?)[0-9a-f]{8}-[0-9a-f]{4}-\d+/g, '$1REQUEST'],
  [/(x-request-id: )[\w-]+/g, '$1REQUEST'],
  // The kernel decides how a dropped connection appears.
  [/the connection was closed before the response was whole/g, 'the connection was reset'],
  // Ids of stored keys.
  [/(auth use |"id": "|^)[0-9a-f]{8}(?= --profile|",\n +"key"| {2}\S*…)/gm, '$100000000'],
  // Hashes over this run's URLs, and fingerprints of its key.
  [/(?<!"body_hash": ")\b(?!0{64})[0-9a-f]{64}\b/g, 'f'.repeat(64)],
  [/("account": ?")[0-9a-f]{32}\b/g, `$1${'f'.repeat(32)}`],
  [/SHA256:[A-Za-z0-9+/]{43}/g, `SHA256:${'0'.repeat(43)}`],
  // File timestamps.
  [/("taken_at": ")[^"]+/g, '$12026-03-01T12:00:00.000Z'],
  [/^((?:before|later) +)\d{4}-\d\d-\d\d$/gm, '$12026-03-01'],
  [/(responds in )\d+ ms/g, '$10 ms'],
  [/Node v[\d.]+, \w+ \w+/g, 'Node v20.0.0, linux x64'],
];

/** The end of a masked key, which a narrow column may truncate further. */
const maskedKey = /(_test_…)([A-Za-z0-9]{1,4})(?![A-Za-z0-9])/g;
const key = /\b(\w+?_(?:test|live)_)[A-Za-z0-9]{12,}/g;

/** Replaces the service's URL, the folder, keys and the `fixed` values with stable ones. */
export function fixedText(text: string, { baseUrl, folder }: Surroundings): string {
  const named = cuts(baseUrl).reduce(
    (printed, cut) => printed.replaceAll(`${cut}…`, `${serviceName.slice(0, cut.length)}…`),
    text
      .replaceAll(baseUrl, serviceName)
      .replaceAll(new URL(baseUrl).host, new URL(serviceName).host)
      .replaceAll(folder, '/home/ada')
      .replace(maskedKey, (_, before: string, end: string) => before.padEnd(before.length + end.length, '0'))
      .replace(key, (whole, prefix: string) => prefix.padEnd(whole.length, '*')),
  );
  return fixed.reduce((printed, [pattern, replacement]) => printed.replace(pattern, replacement), named);
}

/** Truncated forms of the URL in a narrow column. */
const cuts = (url: string): string[] =>
  Array.from(url, (_, index) => url.slice(0, index)).filter((cut) => cut.length > 'http://'.length);
