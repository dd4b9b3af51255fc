/** SQL that maps a return's status to its current name. */
const currentStatus = (status: string): string =>
  `CASE ${status} WHEN 'in_progress' THEN 'open' WHEN 'completed' THEN 'approved' ELSE ${status} END`;

const currentReturn = (json: string): string =>
  `json_set(${json}, '$.status', ${currentStatus(`json_extract(${json}, '$.status')`)})`;

/** SQL for an order record or a transition. Converts the retailer's order numbers in `job_result` to objects. */
const currentResult = (json: string): string =>
  `CASE json_type(${json}, '$.job_result.merchant_order_ids') WHEN 'array' THEN
     json_set(${json}, '$.job_result.merchant_order_ids', (SELECT json_group_array(json_object('merchant_order_id', id.value))
       FROM json_each(${json}, '$.job_result.merchant_order_ids') id)) ELSE ${json} END`;

const currentOrder = (json: string): string =>
  `json_set(${currentResult(json)},
     '$.user_id', (SELECT number FROM users WHERE users.id = orders.user_id),
     '$.metadata', json(coalesce(json_extract(${json}, '$.metadata'), '{}')),
     '$.fulfillment', json(coalesce(json_extract(${json}, '$.fulfillment'),
       '{"gift":null,"items":null,"quantity":null,"excluded_merchants":[],"concessions":[]}')),
     '$.returns', (SELECT json_group_array(json(${currentReturn('summary.value')})) FROM json_each(${json}, '$.returns') summary))`;

/**
 * The store's migrations, in sequence. Each migration runs once. Times are in ms since the epoch, and amounts are in
 * cents.
 */
export const migrations: readonly string[] = [
  `CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;

   CREATE TABLE users (
     id TEXT PRIMARY KEY, email TEXT, created_at INTEGER NOT NULL, order_count INTEGER NOT NULL DEFAULT 0) STRICT;

   CREATE TABLE api_keys (
     hash TEXT PRIMARY KEY, user_id TEXT NOT NULL REFERENCES users (id), id TEXT NOT NULL, name TEXT,
     claim_token TEXT, claimed_at INTEGER, claimed_by TEXT, minted_from TEXT NOT NULL,
     created_at INTEGER NOT NULL, used_at INTEGER NOT NULL, order_id TEXT) STRICT;
   CREATE INDEX api_keys_minted ON api_keys (minted_from, created_at);
   CREATE UNIQUE INDEX api_keys_claim ON api_keys (claim_token) WHERE claim_token IS NOT NULL;

   CREATE TABLE wallets (
     user_id TEXT PRIMARY KEY REFERENCES users (id), id TEXT NOT NULL, balance INTEGER NOT NULL,
     reserved INTEGER NOT NULL DEFAULT 0, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL) STRICT;
   CREATE TABLE ledger (
     seq INTEGER PRIMARY KEY, user_id TEXT NOT NULL REFERENCES users (id), at INTEGER NOT NULL, kind TEXT NOT NULL,
     cents INTEGER NOT NULL, order_id TEXT, note TEXT) STRICT;
   CREATE INDEX ledger_user ON ledger (user_id, seq);

   CREATE TABLE orders (
     seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, user_id TEXT NOT NULL REFERENCES users (id),
     idempotency_key TEXT NOT NULL, created_at INTEGER NOT NULL, status TEXT NOT NULL, recipient TEXT NOT NULL,
     created_by TEXT, reserved INTEGER NOT NULL, fee INTEGER NOT NULL, wallet_paid INTEGER NOT NULL,
     record TEXT NOT NULL, listed TEXT NOT NULL, body TEXT NOT NULL, plan TEXT NOT NULL, next_due INTEGER) STRICT;
   CREATE UNIQUE INDEX orders_key ON orders (user_id, idempotency_key);
   CREATE INDEX orders_newest ON orders (user_id, created_at, seq);
   CREATE INDEX orders_status ON orders (user_id, status, created_at, seq);
   CREATE INDEX orders_due ON orders (next_due) WHERE next_due IS NOT NULL;

   CREATE TABLE trackings (
     order_seq INTEGER NOT NULL REFERENCES orders (seq), number TEXT NOT NULL, svc_number TEXT NOT NULL,
     status TEXT NOT NULL, PRIMARY KEY (order_seq, number)) STRICT, WITHOUT ROWID;
   CREATE TABLE merchant_orders (
     number TEXT NOT NULL, stripped TEXT NOT NULL, order_seq INTEGER NOT NULL REFERENCES orders (seq),
     PRIMARY KEY (number, order_seq)) STRICT, WITHOUT ROWID;
   CREATE INDEX merchant_orders_stripped ON merchant_orders (stripped, order_seq);
   CREATE TABLE order_metadata (
     key TEXT NOT NULL, value TEXT NOT NULL, order_seq INTEGER NOT NULL REFERENCES orders (seq),
     PRIMARY KEY (key, value, order_seq)) STRICT, WITHOUT ROWID;

   CREATE TABLE returns (
     seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, user_id TEXT NOT NULL REFERENCES users (id),
     order_seq INTEGER NOT NULL REFERENCES orders (seq), status TEXT NOT NULL, record TEXT NOT NULL,
     plan TEXT NOT NULL, next_due INTEGER, created_at INTEGER NOT NULL) STRICT;
   CREATE INDEX returns_order ON returns (order_seq, status);
   CREATE INDEX returns_newest ON returns (user_id, created_at, seq);
   CREATE INDEX returns_due ON returns (next_due) WHERE next_due IS NOT NULL;

   CREATE TABLE calls (
     seq INTEGER PRIMARY KEY, user_id TEXT NOT NULL, at INTEGER NOT NULL, endpoint TEXT NOT NULL, query TEXT,
     result_count INTEGER, retailer TEXT, product_id TEXT) STRICT;
   CREATE INDEX calls_user ON calls (user_id, at)`,

  // A filter by part of an id, a name or an email scans only this index, so that only the records of matching rows are
  // read.
  `DROP INDEX orders_newest;
   CREATE INDEX orders_newest ON orders (user_id, created_at, seq, id, recipient, created_by)`,

  // Passwords and two-factor secrets are encrypted. An order occupies its account from `queue_start` to `queue_end`.
  `CREATE TABLE accounts (
     seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, short_id TEXT NOT NULL UNIQUE,
     user_id TEXT NOT NULL REFERENCES users (id), email TEXT NOT NULL, retailer TEXT, password TEXT, totp_secret TEXT,
     retailer_config TEXT, forwarding_email TEXT NOT NULL, forwarded_at INTEGER, created_at INTEGER NOT NULL,
     updated_at INTEGER NOT NULL) STRICT;
   CREATE UNIQUE INDEX accounts_login ON accounts (user_id, lower(email), coalesce(retailer, ''));
   ALTER TABLE orders ADD COLUMN account_id TEXT;
   ALTER TABLE orders ADD COLUMN queue_start INTEGER;
   ALTER TABLE orders ADD COLUMN queue_end INTEGER;
   CREATE INDEX orders_account ON orders (account_id, seq) WHERE account_id IS NOT NULL`,

  `CREATE TABLE batches (
     seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, user_id TEXT NOT NULL REFERENCES users (id), filename TEXT,
     row_count INTEGER NOT NULL, notify INTEGER NOT NULL, notified_at INTEGER, created_at INTEGER NOT NULL,
     updated_at INTEGER NOT NULL) STRICT;
   CREATE INDEX batches_newest ON batches (user_id, seq);
   CREATE TABLE batch_rows (
     batch_seq INTEGER NOT NULL REFERENCES batches (seq), place INTEGER NOT NULL, due INTEGER, body TEXT,
     order_seq INTEGER REFERENCES orders (seq), order_id TEXT, error TEXT, recipient TEXT, product_urls TEXT NOT NULL,
     passthrough TEXT NOT NULL, PRIMARY KEY (batch_seq, place)) STRICT, WITHOUT ROWID;
   CREATE INDEX batch_rows_due ON batch_rows (due) WHERE due IS NOT NULL`,

  // When the page of a product was last read, or when the current read will finish. This time determines how old a
  // response is.
  `CREATE TABLE product_reads (
     retailer TEXT NOT NULL, product_id TEXT NOT NULL, read_at INTEGER NOT NULL,
     PRIMARY KEY (retailer, product_id)) STRICT, WITHOUT ROWID`,

  // Device sign-ins (RFC 8628). Codes that lead to a key are hashed; the user code is short-lived and typed by hand.
  `CREATE TABLE devices (
     code_hash TEXT PRIMARY KEY, user_code TEXT NOT NULL UNIQUE, name TEXT, state TEXT NOT NULL, email TEXT,
     interval_s INTEGER NOT NULL, polled_at INTEGER, created_at INTEGER NOT NULL, expires_at INTEGER NOT NULL,
     asked_from TEXT NOT NULL) STRICT`,

  // The id of the order that a legacy retry created after this order failed.
  `ALTER TABLE orders ADD COLUMN retried_as TEXT`,

  // Webhook addresses by user, and deliveries. A delivery is open until it is delivered or given up.
  `CREATE TABLE hook_addresses (
     user_id TEXT PRIMARY KEY REFERENCES users (id), url TEXT NOT NULL, updated_at INTEGER NOT NULL) STRICT;
   CREATE TABLE deliveries (
     seq INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, user_id TEXT NOT NULL, order_id TEXT NOT NULL, event TEXT NOT NULL,
     url TEXT NOT NULL, body TEXT NOT NULL, created_at INTEGER NOT NULL, next_at INTEGER, leased_until INTEGER,
     attempts INTEGER NOT NULL DEFAULT 0, delivered_at INTEGER, given_up_at INTEGER) STRICT;
   CREATE INDEX deliveries_due ON deliveries (next_at) WHERE next_at IS NOT NULL;
   CREATE INDEX deliveries_open ON deliveries (order_id, url, seq) WHERE next_at IS NOT NULL;
   CREATE INDEX deliveries_user ON deliveries (user_id, seq);
   CREATE TABLE delivery_attempts (
     delivery_seq INTEGER NOT NULL REFERENCES deliveries (seq), at INTEGER NOT NULL, status INTEGER, error TEXT,
     took_ms INTEGER NOT NULL) STRICT;
   CREATE INDEX delivery_attempts_of ON delivery_attempts (delivery_seq)`,

  // Payments by challenge. Each challenge can be paid once, and each idempotency key creates one order.
  `CREATE TABLE payments (
     challenge_id TEXT PRIMARY KEY, method TEXT NOT NULL, reference TEXT NOT NULL, operation TEXT NOT NULL,
     cents INTEGER NOT NULL, digest TEXT, source TEXT, order_id TEXT, idempotency_key TEXT, at INTEGER NOT NULL)
     STRICT, WITHOUT ROWID;
   CREATE UNIQUE INDEX payments_order ON payments (order_id) WHERE order_id IS NOT NULL;
   CREATE UNIQUE INDEX payments_key ON payments (idempotency_key) WHERE idempotency_key IS NOT NULL`,

  // Columns for searching the list of returns. `number` is the return number that the retailer assigned; `labels`
  // counts the labels of a return.
  `ALTER TABLE returns ADD COLUMN order_id TEXT NOT NULL DEFAULT '';
   ALTER TABLE returns ADD COLUMN number TEXT NOT NULL DEFAULT '';
   ALTER TABLE returns ADD COLUMN labels INTEGER NOT NULL DEFAULT 0;
   DROP INDEX returns_newest;
   CREATE INDEX returns_newest ON returns (user_id, created_at, seq, id, order_id, number);
   CREATE INDEX returns_status ON returns (user_id, status, created_at, seq, id, order_id, number)`,

  // The user code is now hashed, as the device code already is. Pending sign-ins are dropped, because they last only
  // minutes.
  `DELETE FROM devices;
   ALTER TABLE devices RENAME COLUMN user_code TO user_code_hash;
   CREATE INDEX devices_asked ON devices (asked_from, expires_at)`,

  // An order may have several open deliveries to one address. All but the first have `behind` set, so due deliveries
  // are found without reading the waiting deliveries. A lease belongs to one process and expires in real time, not
  // sandbox time.
  `ALTER TABLE deliveries ADD COLUMN behind INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE deliveries ADD COLUMN lease TEXT;
   UPDATE deliveries SET leased_until = NULL, behind = EXISTS (
     SELECT 1 FROM deliveries e WHERE e.order_id = deliveries.order_id AND e.url = deliveries.url
       AND e.seq < deliveries.seq AND e.next_at IS NOT NULL) WHERE next_at IS NOT NULL;
   DROP INDEX deliveries_due;
   CREATE INDEX deliveries_due ON deliveries (next_at, seq) WHERE next_at IS NOT NULL AND behind = 0;
   CREATE INDEX deliveries_leased ON deliveries (lease) WHERE lease IS NOT NULL`,

  // Index of an order's deliveries, for the console.
  'CREATE INDEX deliveries_order ON deliveries (order_id, seq)',

  // Adds user numbers, and updates records for strict readers. Null becomes an object, retailer order numbers in
  // `job_result` become objects, and returns get current statuses only.
  `ALTER TABLE users ADD COLUMN number INTEGER;
   UPDATE users SET number = 1000 + rowid;
   CREATE UNIQUE INDEX users_number ON users (number);
   ${['record', 'listed'].map((column) => `UPDATE orders SET ${column} = ${currentOrder(column)};`).join('\n')}
   UPDATE orders SET plan = (SELECT json_group_array(json(${currentResult('step.value')})) FROM json_each(orders.plan) step)
     WHERE plan <> '[]';
   UPDATE returns SET plan = (SELECT json_group_array(json(${currentReturn('step.value')})) FROM json_each(returns.plan) step
       WHERE json_extract(step.value, '$.status') <> 'in_progress'),
     record = ${currentReturn('record')}, status = ${currentStatus('status')};
   UPDATE returns SET next_due = json_extract(plan, '$[0].at')`,

  // An event keeps its id across retries and replays.
  `ALTER TABLE deliveries ADD COLUMN event_id TEXT NOT NULL DEFAULT '';
   UPDATE deliveries SET event_id = id`,

  // Index of an order's ledger entries, for the console.
  'CREATE INDEX ledger_order ON ledger (order_id, seq) WHERE order_id IS NOT NULL',

  // Lets the console count and search orders without reading records that it does not show. The host of an order is
  // taken from the URL of one of its lines.
  `CREATE INDEX orders_kinds ON orders (status, user_id);
   CREATE TABLE order_hosts (
     host TEXT NOT NULL, order_seq INTEGER NOT NULL REFERENCES orders (seq), PRIMARY KEY (host, order_seq))
     STRICT, WITHOUT ROWID;
   INSERT OR IGNORE INTO order_hosts SELECT
     lower(substr(address, 1, instr(address || '/', '/') - 1)), seq FROM (
       SELECT o.seq, substr(item.value ->> '$.url', instr(item.value ->> '$.url', '://') + 3) AS address
         FROM orders o, json_each(o.record, '$.items') item)`,

  // Records interventions, and the speed at creation. Everything else in the history of an order or return follows from
  // its creation.
  `ALTER TABLE orders ADD COLUMN speed REAL NOT NULL DEFAULT 1;
   ALTER TABLE returns ADD COLUMN speed REAL NOT NULL DEFAULT 1;
   CREATE TABLE interventions (
     seq INTEGER PRIMARY KEY, subject TEXT NOT NULL, at INTEGER NOT NULL, event TEXT NOT NULL, error_type TEXT) STRICT;
   CREATE INDEX interventions_of ON interventions (subject, seq)`,

  // Lets the console count and search deliveries without reading bodies.
  `ALTER TABLE deliveries ADD COLUMN last_status INTEGER;
   UPDATE deliveries SET last_status = (SELECT a.status FROM delivery_attempts a
     WHERE a.delivery_seq = deliveries.seq ORDER BY a.rowid DESC LIMIT 1) WHERE attempts > 0;
   CREATE INDEX deliveries_kinds ON deliveries (event, last_status, delivered_at, given_up_at, attempts, user_id)`,

  // Finds a batch's progress and an order's batch without reading the rows.
  `CREATE INDEX batch_rows_failed ON batch_rows (batch_seq) WHERE error IS NOT NULL;
   CREATE INDEX batch_rows_placed ON batch_rows (batch_seq) WHERE order_seq IS NOT NULL;
   CREATE INDEX batch_rows_order ON batch_rows (order_seq) WHERE order_seq IS NOT NULL`,

  // Lets queries sum up a wallet's ledger from the index alone.
  `DROP INDEX ledger_user;
   CREATE INDEX ledger_user ON ledger (user_id, seq, kind, cents)`,

  // Resumes records that earlier versions abandoned. Adds an index that finds stuck records without reading their
  // plans.
  ['orders', 'returns']
    .map(
      (table) =>
        `UPDATE ${table} SET next_due = json_extract(plan, '$[0].at') WHERE next_due IS NULL AND plan <> '[]';
         CREATE INDEX ${table}_stuck ON ${table} (seq) WHERE next_due > json_extract(plan, '$[0].at')`,
    )
    .join(';\n'),

  // What a receiver responded to an attempt: headers and the beginning of the body, without secrets, as JSON.
  'ALTER TABLE delivery_attempts ADD COLUMN response TEXT',
];
