# A bad network is switched on while the sandbox runs: the order is sent, and its response is lost.
$ URL=$(errand sandbox products -o id | grep test-success)
$ errand sandbox fault 'reset-after@POST /orders' --seed 7
faults  reset-after@POST /orders
seed    7
! `errand sandbox fault --off` switches them off
$ errand order create --product $URL --max-price '$50' --ship-to home --retries 0 -o id
? 10
! …in doubt: the order was sent, but its outcome is unknown (POST embedded:/orders may have taken effect: the connection was reset)…
! …

# Whoever settles it under the same faults knows no more; when they are off there is one order.
$ errand order journal resume --all --retries 0 -o id
? 10
! …in doubt…
! …
$ errand sandbox fault --off 'truncate'
? 2
! error: the fault "truncate" is not on; there are reset-after@POST /orders
$ errand sandbox fault --off
faults  none
seed    7
$ errand order journal resume --all -o id | wc -l
1
$ errand order list -o id | wc -l
1

# What controls the sandbox has none: all that can fail does, and it is switched off all the same.
$ errand sandbox fault refuse > /dev/null
! …
$ errand wallet --retries 0
? 9
! …
$ errand sandbox advance 1h -o json --query advanced_ms
3600000
$ errand sandbox reset --yes
! the sandbox is empty; the next command mints a new key
$ errand sandbox fault -o json --query faults
[]
