/** Every row of the specification's Limits table, and the forms of identifiers. Money is in cents, time in seconds. */
export const limits = {
  orderListLimit: { min: 1, max: 500, default: 50 },
  bulkListLimit: { min: 1, max: 200, default: 50 },
  /** These bounds are missing from the specification but were observed on the service. */
  otherListLimit: { min: 1, max: 500, default: 50 },
  searchLimit: { min: 1, max: 100, default: 20 },
  offset: { min: 0, default: 0 },
  maxAgeSeconds: { min: 31 },
  idempotencyKeyLength: { max: 36 },
  giftMessageLength: { max: 240 },
  maxPriceCents: { min: 0 },
  merchantOrderIdLength: { max: 200 },
  metadataKeyLength: { max: 200 },
  metadataValueLength: { max: 500 },
  userEmailLength: { max: 320 },
  quantity: { min: 1 },
  agentOrderFeeCents: 100,
  agentDataCallCents: 1,
  sandboxKeyIdleSeconds: 7 * 24 * 3600,
  returnLabelSeconds: 7 * 24 * 3600,
  totpSecretLength: 64,
  ordersAtOncePerAccount: 1,
  deviceIntervalSeconds: 5,
  storeDomainResults: 10,
  electronicsPageResults: 4,
  electronicsPageProducts: 24,
  usageWindowDays: { min: 1, max: 90, default: 30 },
  usageRecent: { min: 0, max: 100, default: 20 },
} as const;

/**
 * Counts the characters of a text, as JSON Schema does for lengths. An emoji is one character, though it takes two
 * UTF-16 units.
 */
export const characterCount = (text: string): number => [...text].length;

export const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
/** Five digits, optionally followed by a dash and four more digits. */
export const usPostalCodePattern = /^\d{5}(-\d{4})?$/;
export const countryCodePattern = /^[A-Za-z]{2}$/;
/**
 * Pattern of the ids that the service may issue. Ids with other characters, such as slashes, spaces or control
 * characters, are rejected.
 */
export const idPattern = /^[A-Za-z0-9][A-Za-z0-9_.:~-]{0,199}$/;
/** `<prefix>_test_…` and `<prefix>_live_…`; the service chooses the prefix. */
export const apiKeyPattern = /^([A-Za-z0-9]+)_(test|live)_([A-Za-z0-9_-]+)$/;
/** Initial balance of a sandbox wallet, in cents. */
export const sandboxWalletCents = 100_000;
/** Maximum balance of a sandbox wallet, in cents. It is far below the limit of exact integers in JSON. */
export const maxSandboxWalletCents = 1e12;
