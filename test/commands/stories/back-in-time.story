# A state is kept, and brought back with its time: the same order is rehearsed twice.
$ errand config set sandbox-speed 1
$ SLOW=$(errand sandbox products -o id | grep test-slow)
$ ORDER=$(errand order create --product $SLOW --max-price '$50' --ship-to home -o id)
$ errand sandbox snapshot pending -o id
pending
$ errand sandbox snapshot pending
? 2
! error: there is a snapshot pending already; --force takes it anew
$ errand order cancel $ORDER -o csv --fields status
status
cancelled

$ errand sandbox restore pending
! the sandbox is as it was at pending
$ errand order get $ORDER -o json --query status
"pending"
$ errand sandbox advance 10m -o json --query 'length(now) > `0`'
true
$ errand order get $ORDER -o json --query 'tracking_numbers[0].status'
"delivered"
$ errand sandbox restore pending
$ errand order get $ORDER -o json --query status
"pending"
$ errand sandbox restore nothing
? 4
! error: there is no snapshot nothing; there are pending
$ errand sandbox snapshot ../escape
? 2
! error: "../escape" cannot name a snapshot: …
