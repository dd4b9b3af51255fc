/** Ways in which the service may normalize a field of an order record. The help shows these descriptions. */
export const normaliseVariants = {
  phone: 'digits only, with the country code',
  zip: 'a US ZIP code gets its four more digits',
  city: 'in capitals',
  street: 'in capitals, its words abbreviated',
  state: 'in the other case',
  country: 'three letters',
  name: 'in capitals',
  spaces: 'trimmed, runs of spaces collapsed',
  metadata: 'one more entry',
  price: 'max_price as text',
  quantity: 'as text',
  url: 'a slash at the end, the query sorted, no fragment',
  items: 'in reverse order',
  variant: 'labels and values in lower case',
  absent: 'fields that are null are left out',
  empty: 'texts that are null are empty',
} as const;

export type NormaliseVariant = keyof typeof normaliseVariants;

/** Values that a fault may put in place of an id. */
export const oddIds = {
  null: null,
  empty: '',
  true: true,
  number: 0,
  list: [],
  object: {},
  missing: undefined,
} as const satisfies Readonly<Record<string, unknown>>;

export type OddId = keyof typeof oddIds;

/** Syntax and effect of each fault that a served sandbox supports. */
export const sandboxFaults: Readonly<Record<string, string>> = {
  refuse: 'drop the connection as it comes',
  'reset-before, reset-after': 'break the connection before the work, or after it is done',
  'delay=2s': 'respond later',
  truncate: 'do the work, send half of the response',
  '503, 503-after, 429=5s': "a status from 400 to 599 in the service's own error body; 429 with Retry-After",
  '402:payment_failed': 'with an error code of that status (`errand schema errors`)',
  '409={"code":"taken"}': 'a status with a JSON object of your own as its body',
  'html:504, html:504-after': "a gateway's page with a status from 200 to 599",
  'bare:403, bare:403-after': 'a status from 200 to 599 with no body',
  'redirect:307, redirect:303-after':
    'a redirect, 300 to 399: to the same path, or after the work to what was made',
  normalise: 'spell fields of order records in other ways, chosen by the seed',
  'normalise:phone,zip': `exactly these, of ${Object.keys(normaliseVariants).join(', ')}`,
  'id:null': `a response whose id is odd: ${Object.keys(oddIds).join(', ')}`,
  'another-order': 'an order record that describes another order',
};

/** Optional suffixes of a fault, for the help. */
export const faultGrammar =
  'Then :20% for a share of the requests, then @/orders or @POST /orders/* for where. One fault falls on a request, the first that matches; what changes a response (normalise, id, another-order) comes on top.';
