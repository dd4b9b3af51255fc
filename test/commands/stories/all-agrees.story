# At the end of the month, what was ordered here is compared with what the service says, to the cent.
$ URL=$(errand sandbox products -o id | grep test-success)
$ errand order create --product $URL --max-price '$50.00' --ship-to home --watch -o id > /dev/null
$ errand reconcile -o json --query '[agrees, orders, sums[0].net]' | tr -d ' \n'
[true,1,2099]
$ errand reconcile | grep -A 2 '^sums'
sums
  PAID BY   HELD  CHARGED    FEE  REFUNDED  CREDITED     NET
  wallet   $0.00   $19.99  $1.00     $0.00     $0.00  $20.99

# Nobody else uses the account, so that what else it holds would be a finding: here is none.
$ errand reconcile --since 2026-01-01 --exclusive -o json --query '[agrees, wallet.difference, findings]' | tr -d ' \n'
[true,0,[]]

# A second one of the same, while the duplicate window was off, is named with what undoes it.
$ errand config set duplicate-window 0 > /dev/null
$ errand order create --product $URL --max-price '$50.00' --ship-to home -o id > /dev/null
$ errand config set duplicate-window > /dev/null
$ errand reconcile | grep -c 'asks for the same as'
? 7
1
