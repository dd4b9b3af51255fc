# An operator's day. What may be spent is written down, and above $100 a second person must say yes.
$ ssh-keygen -q -t ed25519 -N '' -C ada -f ada
$ printf 'version: 1\nlimits: { per_day: $500 }\napprove: { above: $100 }\napprovers: [ada.pub]\n' > policy.yaml; chmod 600 policy.yaml
$ ERRAND_POLICY=$(echo $PWD/policy.yaml)

# Morning: a plan. One order goes through, one will find nothing in stock, one is dear.
$ SHOP=$(errand sandbox products -o json --query "[?scenario=='success'] | [0].url" | tr -d '"')
$ GONE=$(errand sandbox products -o id | grep test-out-of-stock)
$ echo 'product_url,max_price_cents,name,address,city,state,zip,phone' > orders.csv
$ echo "$SHOP,5000,Ada Byron,1 Main St,Austin,TX,78701,5125550100" >> orders.csv
$ echo "$GONE,5000,Ada Byron,2 Main St,Austin,TX,78701,5125550100" >> orders.csv
$ echo "$SHOP,12000,Ada Byron,3 Main St,Austin,TX,78701,5125550100" >> orders.csv
$ errand bulk plan orders.csv --out today.plan -o csv --fields row,verdict
? 11
row,verdict
2,allowed
3,allowed
4,needs_approval
$ errand order list -o id | wc -l
0

# It is not placed before a second person has signed it.
$ errand bulk apply today.plan
? 11
! error: the policy requires approval …
…
$ ID=$(errand approval list -o id)
$ errand approval export $ID | ssh-keygen -q -Y sign -n errand-approval -f ada | errand approval import -o id > /dev/null
$ errand bulk apply today.plan --watch --timeout 10m -o csv --fields row_count,placed_count
? 7
row_count,placed_count
3,3
! …

# Noon: one of them failed. Why, what it cost, and what to do.
$ FAILED=$(errand order list --status order_failed -o id)
$ errand order explain $FAILED
order …
in short    It failed (out_of_stock); nothing was bought. It cost nothing.
…
what to do  The item is sold out; choose another or order again later.
…

# Evening: what was ordered here and what the service says agree, to the cent, and nothing in the chain was changed.
$ errand reconcile -o json --query 'length(findings)'
0
$ errand audit verify -o json --query intact
true

# The month's report, for the books.
$ errand spend --by day -o csv --fields orders,spent_cents,held_cents
…
$ errand spend export --as hledger --opening-balance '$1,000.00' --out books.journal -o json --query 'books_wallet_cents == wallet_cents'
true
