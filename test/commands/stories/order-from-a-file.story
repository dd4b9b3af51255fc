# A script orders from a file and reads the id.
$ errand sandbox mint -o json --query 'example_order' > order.json
$ ORDER=$(errand order create --file order.json -o json | jq -r .id)
$ errand order watch $ORDER --timeout 10m -o ndjson | jq -r .type | sort -u
change
ready
summary

# Flags override the file; the request can be looked at first.
$ errand order create --file order.json --max-price '$80.00' --new --dry-run | grep -c '"max_price": 8000'
1

# A file carries integer cents.
$ sed 's/"max_price": [0-9]*/"max_price": 50.00/' order.json > decimal.json
$ errand order create --file decimal.json
? 2
! …decimal.json: max_price is 50.00, and files carry integer cents…

$ sed 's/^{/{"__proto__": 1,/' order.json > odd.json
$ errand order create --file odd.json
? 2
! error: __proto__ (odd.json): A field cannot be called __proto__; give it another name (validation_error)

$ printf '{"products": [' > broken.json
$ errand order create --file broken.json
? 2
! …broken.json…is not JSON…

$ errand order create --file nowhere.json
? 2
! …nowhere.json cannot be read (there is no such file)…

# Your own data keeps its types, and an event's address goes by its older name too.
$ errand order create --file order.json --metadata team=office --metadata-json count=7 --metadata-json 'tags=["a"]' --webhook order_placed=http://127.0.0.1:9/hook --po-number typed --new -o json --query metadata
{
  "team": "office",
  "count": 7,
  "tags": [
    "a"
  ]
}
$ errand order create --file order.json --webhook order_failed=http://127.0.0.1:9/hook --new --dry-run | grep -c order_failed
1
$ errand order create --file order.json --metadata-json count=seven
? 2
! error: --metadata-json count takes JSON…not seven
$ errand order create --file order.json --metadata count=7 --metadata-json count=7
? 2
! error: --metadata and --metadata-json both give "count"
$ errand order create --file order.json --webhook order_lost=http://127.0.0.1:9/hook
? 2
! error: --webhook: no event "order_lost"; …order_placed, order_failed
