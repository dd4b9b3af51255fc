# Somebody without an account orders: each call is paid for as it is made. No key is set, and none is minted.
$ errand agent search coffee --limit 2 -o json --query 'length(@)'
2
! paying $0.01 by sandbox; no money moves
! paid $0.01 by sandbox, receipt pay_…

$ errand address add home --first-name Ada --last-name Byron --address-line1 '1 Main St' --city Austin --state TX --postal-code 78701 --country US --phone-number 5125550100 >/dev/null
$ URL=$(errand sandbox products -o id | grep test-success)

# The request can be looked at before anything is paid.
$ errand agent order create --product $URL --max-price '$50' --ship-to home --dry-run | grep '"max_price"'
    "max_price": 5000,

# The ceiling and the fee are paid; a cap is kept.
$ errand agent order create --product $URL --max-price '$50' --ship-to home --max-pay '$50.00'
? 6
! error: the service asks for $51.00, and --max-pay allows $50.00; nothing was paid…
$ ORDER=$(errand agent order create --product $URL --max-price '$50' --ship-to home --max-pay '$51.00' -o id)

# The order's own key is kept with it: it is read and followed without an account.
$ errand order watch $ORDER --timeout 10m -o id
…
$ errand order get $ORDER -o json --query 'tracking_numbers[0].status'
"delivered"
$ errand order timeline $ORDER -o id | head -1
order_created
$ errand agent order receipt $ORDER -o json --query '[method, status, amount]' | tr -d ' \n'
["sandbox","success","5100"]
$ errand order journal list
! nothing is in doubt or unreported
$ errand auth status -o json --query key
null

# A payment that is declined buys nothing.
$ errand agent order create --product $URL --max-price '$50' --ship-to home --method sandbox --new --yes --pay-command 'exit 1'
? 6
! error: the pay command declined (exit 1)…
$ errand agent order create --product $URL --max-price '$50' --ship-to home --method sandbox --new --yes --pay-command 'printf "{\"payload\":{\"type\":\"sandbox\",\"authorization\":\"decline\"}}"'
? 6
! error: The payment was declined, as its payload requested.…
$ errand order journal list --all -o csv --fields state
state
…
refused
refused

# What the built-in payer does not know is for a wallet.
$ errand agent search coffee --method stripe
? 6
! error: built in is sandbox only; stripe needs a wallet…
$ errand agent search coffee --limit 1 --method stripe --yes -o json --query 'length(@)' --pay-command 'cat > asked.json; printf "{\"payload\":{\"spt\":\"spt_1\"}}"'
1
! …paid $0.01 by stripe…
$ jq -r .method < asked.json
stripe
