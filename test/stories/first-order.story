# A newcomer runs the main job, and each later process sees that order.
$ errand quickstart -o json --query 'tracking_numbers[0].status'
"delivered"
! minted a sandbox key …
! Search: …
! Order: …

$ errand order list -o csv --fields status,max_price
status,max_price
order_placed,5000

$ ORDER=$(errand order list -o id)

$ errand order get $ORDER -o json --query status
"order_placed"

$ errand order timeline $ORDER -o id
order_created
order_placed
tracking_acquired
shipped
delivered

$ errand track $ORDER -o json --query 'shipments[0].status'
"delivered"

$ errand order export --created-after 2026-01-01 > orders.csv; wc -l < orders.csv
2

$ errand wallet -o json --query 'balance < `100000`'
true

# Another key is another account: the one in use is not replaced unasked, and minting says what is left behind.
$ errand sandbox mint
? 2
! error: profile local has the key sbx_test_…, whose orders and wallet another key does not see; nothing was minted
$ errand sandbox mint --replace --fields expires_policy
policy  expires after 7 days without use
! stored for profile local
! in place of sbx_test_…, whose orders and wallet this key does not see
