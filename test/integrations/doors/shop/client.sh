#!/bin/sh
# A client in another language: curl, and node only to pick a field out of JSON. It buys, follows, sends back and is refused.
set -eu

call() {
  method=$1 path=$2
  shift 2
  curl -sS -X "$method" -H "authorization: Bearer $ERRAND_API_KEY" -H 'content-type: application/json' "$@" "$ERRAND_BASE_URL$path"
}

fail() {
  echo "client.sh: $1" >&2
  exit 1
}

# order SLUG KEY prints an order as it is sent.
order() {
  cat <<JSON
{"products": [{"url": "$ERRAND_SHOP_URL/$1", "quantity": 1}], "max_price": 5000, "idempotency_key": "$2",
 "shipping_address": {"first_name": "Ada", "last_name": "Byron", "address_line1": "100 Congress Avenue", "city": "Austin",
  "state": "TX", "postal_code": "78701", "country": "US", "phone_number": "5125550100"}}
JSON
}

# pick .FIELD reads JSON from stdin.
pick() {
  node -p "JSON.parse(require('fs').readFileSync(0, 'utf8'))$1"
}

# until_is STATUS PATH reads PATH until it has that status.
until_is() {
  tries=0
  while :; do
    case $(call GET "$2") in *"\"status\":\"$1\""*) return ;; esac
    tries=$((tries + 1))
    [ "$tries" -lt 200 ] || fail "$2 never came to $1"
    sleep 0.1
  done
}

curl -sSf "$ERRAND_BASE_URL/healthz" >/dev/null

# One order for one key, whatever was lost on the way.
id=$(order test-success curl-1 | call POST /orders -d @- | pick .id)
again=$(order test-success curl-1 | call POST /orders -d @- | pick .details.identifier)
[ "$id" = "$again" ] || fail "the same key made $id and $again"
until_is delivered "/orders/$id"
[ "$(curl -sSf "$ERRAND_BASE_URL/track/$id" | pick '.shipments[0].status')" = delivered ] || fail 'tracking lags behind'

# Sent back, approved with a label, and the money is in the wallet again.
before=$(call GET /wallet/me | pick .balance)
item=$(call GET "/orders/$id" | pick '.items[0].id')
back=$(call POST /returns -d "{\"order_id\": \"$id\", \"items\": [{\"order_item_id\": \"$item\", \"quantity\": 1}], \"reason\": \"damaged\"}" | pick .id)
until_is credited "/returns/$back"
after=$(call GET /wallet/me | pick .balance)
credited=$(call GET "/returns/$back" | pick .credited_amount)
[ $((before + credited)) -eq "$after" ] || fail "$before and $credited are not $after"

# Each refusal has its status and its code.
refused() {
  response=$(order "$1" "curl-${1#test-}" | call POST /orders -d @- -w '\n%{http_code}')
  got="$(echo "$response" | tail -n 1) $(echo "$response" | sed '$d' | pick .code)"
  [ "$got" = "$2" ] || fail "$1 was refused with $got, not $2"
}
refused test-url-unreachable '400 url_unreachable'
refused test-refused-shipping-unavailable '400 shipping_unavailable'
refused test-insufficient-funds '402 insufficient_funds'
refused test-refused-invalid-payment-method '402 invalid_payment_method'

echo "client.sh: done at $ERRAND_BASE_URL"
