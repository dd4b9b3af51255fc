# Nothing listens: the order was surely not sent, nothing is in doubt, and the same command may be run again.
$ errand sandbox mint --no-store -o json --query api_key | tr -d '"' > key.txt
$ URL=$(errand sandbox products -o id | grep test-success)
$ ERRAND_API_KEY=$(cat key.txt) errand order create --product $URL --max-price '$50' --ship-to home --base-url http://127.0.0.1:9 --retries 0
? 9
! error: …the connection was refused
$ errand order journal list
! nothing is in doubt or unreported

# The same key for the same order is that order; for another one it is refused, with the differences.
$ FIRST=$(errand order create --product $URL --max-price '$50' --ship-to home --idempotency-key monday-1 -o json | jq -r .id)
$ errand order create --product $URL --max-price '$50' --ship-to home --idempotency-key monday-1 -o json --query "id == '$FIRST'"
true
! this order existed already; nothing was ordered twice
$ errand order create --product $URL --max-price '$60' --ship-to home --idempotency-key monday-1
? 5
! error: the key monday-1 belongs to another order, …max_price: requested 6000, exists 5000…
$ errand order list -o id | wc -l
1

$ errand order journal list --all -o csv --fields key,state
key,state
…
monday-1,reported
…

# What is open on this machine alone goes into a database that several machines share, once one is named.
$ errand order journal move
? 2
! error: no database is named: set ERRAND_DATABASE_URL, or that of the profile
! …

# The same for the same recipient within a short time is taken for a duplicate: a retried step of a job, a second Enter.
$ errand order create --product $URL --max-price '$70' --ship-to home --new -o id > first.txt
$ errand order create --product $URL --max-price '$70.00' --ship-to home -o json > second.json
? 5
! …"message":"the same order was placed …; no second one was placed"…
$ errand order create --product $URL --max-price '$70' --ship-to home --new -o id | cmp -s - first.txt || echo another
another
$ errand config set duplicate-window 0
! duplicate-window = 0
$ errand order create --product $URL --max-price '$70' --ship-to home -o id | wc -l
1

# An output that fails does not hide the order: the same command does not order again.
$ errand config set duplicate-window 10m
! duplicate-window = 10m
$ SLOW=$(errand sandbox products -o id | grep test-slow)
$ errand order create --product $SLOW --max-price '$80' --ship-to home --query 'abs(id)'
? 2
! error: --query "abs(id)": …; the order … was placed
! …
$ errand order create --product $SLOW --max-price '$80' --ship-to home
? 5
! error: the same order was placed …
! …
