# Product data without an account: each call is paid for.
$ ID=$(errand agent product search tea --retailer harborgoods -o id | head -1)
$ errand agent product get $ID --retailer harborgoods -o json | grep -q "$ID" && echo found
found
! paid $0.01 by sandbox, receipt …
$ errand agent product offers $ID --retailer harborgoods -o json --query 'length(@) > `0`'
true
! paid $0.01 by sandbox, receipt …

# Where nothing is in doubt, the journal has nothing to do.
$ errand order journal resume --all
! …
$ errand order journal forget nokey
? 4
! error: the journal has no record of nokey
$ errand order journal repair
! the journal is whole; nothing was changed

# The sandbox begins anew.
$ errand sandbox reset --yes
! the sandbox is empty; the next command mints a new key
$ errand schema show OrderCreate -o json --query type
"object"
