# Orders are cancelled in a pipe while they are pending.
$ SHOP=$(errand sandbox products -o json --query "[?scenario=='success'] | [0].url" | tr -d '"')
$ SLOW=$(errand sandbox products -o id | grep test-slow)
$ errand config set sandbox-speed 1
$ errand order create --product $SLOW --max-price '$50.00' --ship-to home -o json --query status
"pending"

$ errand order list --status pending -o id | errand order cancel - -o csv --fields status
status
cancelled

$ errand order list --status pending -o id | errand order cancel -
! …no order to cancel…

# What is processed cannot be cancelled.
$ errand config set sandbox-speed 20
$ ORDER=$(errand order create --product $SHOP --max-price '$50.00' --ship-to home -o json --query id | tr -d '"')
$ errand order watch $ORDER --timeout 10m > /dev/null
$ errand order cancel $ORDER
? 5
! error: …order_not_cancellable…
