/** The statements on types and nulls in the section on shapes: contents of records. */
export const declaredRecords = {
  'declared fulfillment':
    'always an object: three modes or null, excluded_merchants, concessions empty on a strict order',
  'declared metadata': 'left out or an object, never null',
  'declared user_id': 'a number, of orders and of the wallet',
  'declared retailer_id': 'of a managed account: a number or null',
  'declared merchant_order_ids': 'objects in job_result, strings in the record',
  'declared expected': 'of a field error: a string or null',
  'declared detail': 'of a milestone: an object or null',
  'declared next': 'of /device/code: one string',
  'declared orders_placed': 'of evidence: a boolean',
  'declared support_detail': 'with how_to_order: strings, never null',
  'declared condition of an offer': 'spelled with spaces and a dash',
  'declared offers': 'one for electronics and handmade; store domains refuse',
  'declared return status': 'open, approved, denied, credited are sent; the filter takes every status',
  'declared label_urls': 'an array in every status',
  'declared excluded_by_price': 'null where no clamp was set',
  'declared hint': 'of an empty search: what to change',
  'declared delivery_proof_url': 'of a delivered parcel: leads to the proof',
} as const;

/** The same section: contents of requests, and what every response has. */
export const declaredRequests = {
  'declared optional body': 'absent, empty, {} or null: POST /sandbox/keys, POST /device/code',
  'declared body of /agent/orders': 'absent is the 402 probe, {} and null are 422',
  'declared terms of data calls': 'in the query with no body, or in a JSON body; a probe has neither',
  'declared conditions': 'of condition_in and condition_not_in: exact and case-sensitive',
  'declared update of an account': 'null is as if not given; "" and {} clear; the email stays',
  'declared payment': '{} and a missing mode mean wallet',
  'declared cells': 'of bulk rows: numbers, booleans or null too',
  'declared rows': 'a body without them is refused as an empty upload is',
  'declared limit': 'of /returns and /managed-accounts: at most 500',
  'declared window_days': 'of /usage: at most 90',
  'declared country':
    'of /retailers/check: without it no shipping check; a longer one is refused with the code',
  'declared members only': 'orderable: false, guest_checkout_not_supported',
  'declared include': 'all adds the stores that were seen and are not curated',
  'declared unknown retailer': 'a saved account for it is stored, retailer_id null',
  'declared WWW-Authenticate': 'on every 401: Bearer, and Basic under /v1',
  'declared X-Request-Id': 'on every response',
  'declared X-Webhook-Id': 'the same over retries',
} as const;
