# A developer keeps a case of her shop in a file, and her CI plays it.
$ printf '%s\n' 'version: 1' 'clock: { now: 2026-11-02T09:00:00Z }' 'keys: [{ name: buyer, balance: 150 }]' 'steps:' '  - request: POST /orders' '    body: { products: [{ url: "{shop_url}/test-success" }], max_price: 2500, shipping_address: { first_name: Ada, last_name: Byron, address_line1: 1 Main St, city: Austin, state: TX, postal_code: "78701", country: US, phone_number: "5125550100" } }' '    expect: { status: 402, code: insufficient_funds, body: { details: { required: 2600, available: 150 } } }' 'expect:' '  - { wallet: buyer, body: { balance: 150 } }' > broke.yaml
$ errand sandbox test broke.yaml -o json --query '[].status'
[
  "held",
  "held"
]

# What does not hold has its line, and the job fails.
$ sed 's/balance: 150 } }$/balance: 99 } }/' broke.yaml > wrong.yaml
$ errand sandbox test wrong.yaml --report junit=report.xml -o csv --fields where,why | tail -1
wrong.yaml:9,"balance: expected 99, got 150"
? 7
$ grep -c '<failure' report.xml
1

# A state that she came to by hand is where the next tests begin.
$ errand sandbox exec --scenario broke.yaml -- errand sandbox export > now.yaml
$ errand sandbox exec --scenario now.yaml -- errand wallet -o json --query balance
150
