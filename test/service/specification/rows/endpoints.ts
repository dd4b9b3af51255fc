/** The rows of the specification's Endpoints tables: Orders. */
export const orderEndpoints = {
  'POST /orders': '201 OrderResponse; queued; refused at creation as listed',
  'GET /orders': '200 OrderListResponse',
  'GET /orders/export': 'the same filters, no limit, offset or include; CSV of the whole filtered set',
  'GET /orders/test-products': 'lists the sandbox test product URLs',
  'GET /orders/{order_id}': '200 OrderResponse',
  'GET /orders/{order_id}/timeline': '200 OrderTimelineResponse',
  'POST /orders/{order_id}/cancel': '204 no body',
} as const;

/** Query of GET /orders. */
export const orderQuery = {
  'GET /orders?limit': 'integer 1 to 500, default 50',
  'GET /orders?offset': 'integer, minimum 0, default 0',
  'GET /orders?order_id': 'partial match',
  'GET /orders?search': 'partial match on order id or tracking number',
  'GET /orders?merchant_order_id': 'at most 200; exact; dashes as typed and stripped',
  'GET /orders?status_filter': 'order status',
  'GET /orders?tracking_status': 'at least one tracking number of that status',
  'GET /orders?has_tracking': 'true: at least one tracking number; false: none',
  'GET /orders?return_status': 'open, closed, or no filter',
  'GET /orders?created_after': 'inclusive',
  'GET /orders?created_before': 'exclusive',
  'GET /orders?metadata_key': 'at most 200; top-level; only with metadata_value',
  'GET /orders?metadata_value': 'at most 500; exact, case-sensitive; only with metadata_key',
  'GET /orders?user_email': 'at most 320; part of an email, any case; within the organization',
  'GET /orders?shipping_name': 'filter by shipping name',
  'GET /orders?include': 'tracking_events embeds the checkpoints; omitted by default',
} as const;

export const bulkEndpoints = {
  'POST /orders/bulk/validate': 'dry run: every row, estimated spend, no order',
  'POST /orders/bulk': '201; a batch whose rows are placed asynchronously',
  'GET /orders/bulk': "the caller's batches, newest first",
  'GET /orders/bulk?limit': 'integer 1 to 200, default 50',
  'GET /orders/bulk?offset': 'integer, minimum 0, default 0',
  'GET /orders/bulk/{batch_id}': 'per-row results and live order statuses',
  'GET /orders/bulk/{batch_id}/results.csv':
    'CSV attachment, a row for each uploaded one, custom columns echoed',
} as const;

export const productEndpoints = {
  'GET /products/search': '200 ProductSearchResponse: results and next_page',
  'GET /products/search?query': 'required, minimum length 1',
  'GET /products/search?retailer': 'required; a retailer, or the domain of a store',
  'GET /products/search?page': 'integer, nullable',
  'GET /products/search?free_shipping':
    'after pagination; general and electronics filter, the marketplace does not, stores refuse',
  'GET /products/search: electronics': 'about 4 of about 24 a page; next_page says whether more exist',
  'GET /products/search: store domain':
    'about 10 results, one page, next_page null, product_id is the handle',
  'GET /products/search: handmade': 'USD only, no stars or num_reviews, brand is the shop, numeric id',
  'GET /products/{product_id}': '200, the payload; completed, processing or failed with code and message',
  'GET /products/{product_id}?product_id': "the retailer's product id",
  'GET /products/{product_id}?retailer': 'required',
  'GET /products/{product_id}?max_age': 'minimum 31; exclusive with newer_than',
  'GET /products/{product_id}?newer_than': 'unix time; short windows widened to 31 s; exclusive with max_age',
  'GET /products/{product_id}?async': 'answers at once with status processing',
  'GET /products/{product_id}: electronics': 'addressed by the trailing id of its URL; sku repeats the SKU',
  'GET /products/{product_id}: store domain': 'the handle; price and availability of each variant; no async',
  'GET /products/{product_id}: handmade':
    'shop_review_*, listing_type, available, variants, taxonomy_id; no async',
  'GET /products/{product_id}/offers': "200, the retailer's offers",
  'GET /products/{product_id}/offers?product_id': "the retailer's product id",
  'GET /products/{product_id}/offers?retailer': 'required',
  'GET /products/{product_id}/offers?max_age': 'minimum 31; exclusive with newer_than',
  'GET /products/{product_id}/offers?newer_than': 'short windows widened to 31 s; exclusive with max_age',
  'GET /products/{product_id}/offers?async': 'answers at once with status processing',
  'GET /products/{product_id}/offers: store domain': 'unavailable',
} as const;

export const searchEndpoints = {
  'GET /search': 'orderable xx_sku_ listings, with free_shipping',
  'GET /search?q': 'required, minimum length 1',
  'GET /search?min_price': 'integer',
  'GET /search?limit': 'how many',
  'GET /search?retailer': 'one of 14 identifiers',
  'GET /search?sort': 'relevance, price_asc, price_desc, rating',
} as const;

export const agentEndpoints = {
  'POST /agent/orders': 'body of OrderCreate; invalid: 422 before any challenge; no body: the lenient 402',
  'POST /agent/orders?method': 'narrows the challenge to one payment method',
  'POST /agent/search': '0.01 USD; query limit, retailer, sort',
  'POST /agent/products/search': '0.01 USD; free_shipping applies to the general retailer only',
  'POST /agent/products/offers': '0.01 USD',
  'POST /agent/products/details': '0.01 USD',
} as const;

export const retailerEndpoints = {
  'GET /retailers': 'free, no authentication; PublicRetailerListResponse',
  'GET /retailers?include': 'array',
  'GET /retailers/check': 'the code that the order path would give, in unsupported_reason',
} as const;

export const accountEndpoints = {
  'GET /managed-accounts': '200 {credentials, total}',
  'GET /managed-accounts?limit': 'how many',
  'GET /managed-accounts?offset': 'from where',
  'GET /managed-accounts?search': 'part of an account',
  'POST /managed-accounts': 'email required; secrets never returned',
  'PUT /managed-accounts/{short_id}': 'only provided fields change',
  'DELETE /managed-accounts/{short_id}': '204 no content',
} as const;

export const returnEndpoints = {
  'POST /returns': 'return request; a conflict answers 409',
  'GET /returns': 'ReturnRequestListResponse with total',
  'GET /returns?limit': 'how many',
  'GET /returns?offset': 'from where',
  'GET /returns?search': 'part of an id or number',
  'GET /returns?status': 'status of the return',
  'GET /returns/{return_request_id}': '200; 422 on invalid id',
} as const;

export const otherEndpoints = {
  'GET /track/{order_id}': 'public tracking',
  'GET /usage': "the caller's usage",
  'GET /wallet/me': 'spendable balance and per-order fee',
  'POST /sandbox/keys': 'no authentication; {email, name} or an empty body; api_key and claim_url',
  'GET /sandbox/status': 'whether the sandbox has been claimed',
  'POST /users': "registers the caller's webhook address; test mode has its own",
  'POST /device/code': 'starts the device flow (observed)',
  'POST /device/token': 'polled while a person approves',
  'GET /openapi.json': 'machine-readable description',
} as const;

export const legacyEndpoints = {
  'GET /v1/products/{product_id}': 'the legacy product details record',
  'GET /v1/products/{product_id}?retailer': 'required',
  'GET /v1/products/{product_id}?max_age': 'number, seconds; exclusive with newer_than',
  'GET /v1/products/{product_id}?newer_than': 'number, timestamp',
  'GET /v1/products/{product_id}?async': 'boolean, default false',
  'POST /v1/orders/{request_id}/retry': '200 {request_id}, the id of the new order request',
} as const;
