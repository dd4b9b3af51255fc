# Nothing listens: the order was surely not sent, nothing is in doubt, and the same command may be run again.
$ errand sandbox mint --no-store -o json --query api_key | tr -d '"' > key.txt
$ URL=$(errand sandbox products -o id | grep test-success)
$ ERRAND_API_KEY=$(cat key.txt) errand order create --product $URL --max-price '$50' --ship-to home --base-url http://127.0.0.1:9 --retries 0
? 9
! error: …the connection was refused
$ errand order journal list
! nothing is in doubt

# The same key for the same order is that order; for another one it is refused, with the differences.
$ FIRST=$(errand order create --product $URL --max-price '$50' --ship-to home --idempotency-key monday-1 -o json | jq -r .id)
$ errand order create --product $URL --max-price '$50' --ship-to home --idempotency-key monday-1 -o json --query "id == '$FIRST'"
true
! this order existed already; nothing was ordered twice
$ errand order create --product $URL --max-price '$60' --ship-to home --idempotency-key monday-1
? 5
! error: the key monday-1 belongs to another order, …max_price: asked 6000, exists 5000…
$ errand order list -o id | wc -l
1

$ errand order journal list --all -o csv --fields key,state
key,state
…
monday-1,settled
…
