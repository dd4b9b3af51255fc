# An upload is taken back: what is pending is cancelled, what came is returned from a file.
$ errand config set sandbox-speed 50
$ SHOP=$(errand sandbox products -o json --query "[?scenario=='success'] | [0].url" | tr -d '"')
$ SLOW=$(errand sandbox products -o id | grep test-slow)
$ echo 'product_url,max_price_cents,name,address,city,state,zip,phone' > gifts.csv
$ echo "$SHOP,5000,Ada Byron,1 Main St,Austin,TX,78701,5125550100" >> gifts.csv
$ errand bulk upload gifts.csv --watch -o csv --fields row_count,placed_count
row_count,placed_count
1,1
! …
$ errand bulk cancel gifts --returns late.csv -o csv --fields row,outcome
? 5
row,outcome
2,too_late
$ errand order watch $(errand order list -o id) --until delivered --timeout 10m > /dev/null
$ errand bulk return late.csv --reason no_longer_needed -o csv --fields row,outcome,reason
row,outcome,reason
2,requested,no_longer_needed
$ errand bulk return late.csv --reason no_longer_needed -o csv --fields row,outcome
row,outcome
2,was_requested

# One order, by its id; a terminal takes back the last one without it.
$ errand config set sandbox-speed 1
$ ORDER=$(errand order create --product $SLOW --max-price '$50.00' --ship-to home -o id)
$ errand undo $ORDER -o csv --fields outcome
outcome
cancelled
$ errand undo
? 2
! error: without a terminal, undo needs the id of an order or the name of an upload
…
