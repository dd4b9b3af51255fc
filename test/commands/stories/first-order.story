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

$ errand order export --since 2026-01-01 > orders.csv; wc -l < orders.csv
2

$ errand wallet -o json --query 'balance < `100000`'
true

# Another key is another account: the one in use is kept beside it, and comes back with its orders.
$ errand sandbox mint --fields expires_policy
policy  expires after 7 days without use
! stored for profile local
! sbx_test_… is kept beside it, with its orders and wallet: `errand auth use …` goes back
$ errand order list -o id | wc -l
0
$ errand auth list -o csv --fields in_use,mode
in_use,mode
true,test
false,test
$ errand auth use $(errand auth list -o id | tail -1)
! profile local uses sbx_test_… (test)
$ errand order list -o id | wc -l
1
$ errand auth use nothing
? 2
! error: profile local has no key "nothing"
! try: errand auth list — to see its keys
