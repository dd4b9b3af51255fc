# Something came damaged: ask for a return, print its label, get the money back.
$ SHOP=$(errand sandbox products -o json --query "[?scenario=='success'] | [0].url" | tr -d '"')
$ SLOW=$(errand sandbox products -o id | grep test-slow)

# Before it is placed there is nothing to return. Time stands still meanwhile.
$ CLOCK_STILL_AT=$(date +%s999)
$ PENDING=$(errand order create --product $SLOW --max-price '$50.00' --ship-to home -o id)
$ errand return create --order $PENDING --reason damaged
? 5
! error: …return_not_allowed…
$ errand order cancel $PENDING > /dev/null
$ CLOCK_STILL_AT=$(true)

$ ORDER=$(errand order create --product $SHOP,quantity=2 --max-price '$50.00' --ship-to home -o id)
$ errand order watch $ORDER --timeout 10m > /dev/null

# Time stands still: some seconds after a return the sandbox decides about it by itself.
$ CLOCK_STILL_AT=$(date +%s999)
$ RETURN=$(errand return create --order $ORDER --reason damaged --notes 'torn box' -o id)

# Requested again, it is the same return; with another reason it is refused.
$ errand return create --order $ORDER --reason damaged -o id
…
! a return of these items existed already; nothing was requested twice
$ errand return create --order $ORDER --reason defective
? 5
! error: another return of these items is open, …: reason requested defective, is damaged…

$ errand return labels $RETURN
? 5
! …has no labels…
$ errand sandbox trigger return-approved $RETURN -o csv --fields status
status
approved
$ errand return watch $RETURN -o csv --fields status
status
approved
$ errand return labels $RETURN --dir labels -o id
labels/return-…-1.pdf
$ head -c 5 labels/*.pdf
%PDF-
$ errand return labels $RETURN --dir labels
? 2
! error: labels/return-…-1.pdf already exists; use --force to overwrite it

# What was charged comes back, and shows on the order.
$ errand sandbox trigger return-credited $RETURN > /dev/null
$ errand return get $RETURN -o csv --fields status,credited_amount
status,credited_amount
credited,3998
$ errand wallet -o json --query balance
99900
$ errand order get $ORDER -o json --query 'returns[0].credited_amount'
3998

# A part of an order, by its item. What was sent back is bought again only where that is said.
$ CLOCK_STILL_AT=$(true)
$ SECOND=$(errand order create --product $SHOP,quantity=3 --max-price '$90.00' --ship-to home --again -o id)
$ errand order watch $SECOND --until placed --timeout 10m > /dev/null
$ ITEM=$(errand order get $SECOND -o json --query 'items[0].id' | tr -d '"')
$ errand return create --order $SECOND --item $ITEM=4 --reason wrong_size
? 5
! …3 bought…
$ errand return create --order $SECOND --item $ITEM=1 --reason wrong_size -o json --query 'items[0].quantity'
1
$ errand return list --search $SECOND -o csv --fields status,reason
status,reason
…,wrong_size
