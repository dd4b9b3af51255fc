# One page tells what became of an order and of each cent, and what is left to do.
$ URL=$(errand sandbox products -o id | grep test-success)
$ ORDER=$(errand order create --product $URL --max-price '$50.00' --ship-to home --watch -o id)
$ errand order explain $ORDER | grep -A 4 '^money'
money
  WHAT    AMOUNT  PAYER   KNOWN     NOTE
  charge  $19.99  wallet  observed  price, paid from the wallet
  fee      $1.00  wallet  by rule   fee of the service
  in all  $20.99  wallet
$ errand order explain $ORDER -o json --query 'asked.command'
"errand order create --output id --product … --max-price-cents 5000 --ship-to … --watch"

# A return is told with what it brought.
$ errand return create --order $ORDER --reason not_delivered > /dev/null
$ errand sandbox advance 1m > /dev/null
$ errand order explain $ORDER -o json --query 'money.sums[0].[charged, fee, credited, net]' | tr -d ' \n'
[1999,100,1999,100]

# What failed says why, and what to do.
$ SOLD=$(errand sandbox products -o id | grep test-out-of-stock)
$ errand order create --product $SOLD --max-price '$50.00' --ship-to home --watch > /dev/null
? 7
$ FAILED=$(errand order list --status order_failed -o id)
$ errand order explain $FAILED | grep -e '^in short' -e '^what to do'
in short    It failed (out_of_stock); nothing was bought. It cost nothing.
what to do  The item is sold out; choose another or order again later.
$ errand order explain nothing
? 4
! error: neither the service nor this machine knows an order or a key "nothing"
