# A device sign-in: the code is approved elsewhere, and the key is stored.
$ errand auth login --timeout 5s
? 8
! code …
! …errand sandbox trigger device-approve …
! error: --timeout passed; nobody had approved the code
$ (errand auth login --name laptop 2> login.txt; echo $? > code.txt) & until grep -q '^code' login.txt 2>/dev/null; do sleep 0.05; done; errand sandbox trigger device-approve $(sed -n 's/^code //p' login.txt) > /dev/null; wait; cat code.txt; grep 'signed in' login.txt
0
signed in: stored sbx_test_… for profile local (test)
$ errand auth status -o json --query works
true
$ errand auth login --base-url http://127.0.0.1:9
? 2
! …names another service than profile local…
$ errand auth login --name laptop --dry-run | grep -c laptop
1

# What was called, with a chart of each metric; the JSON is the service's own.
$ errand search coffee > /dev/null
$ errand search tea -o json --query 'length(@) > `0`'
true
$ errand usage --window-days 7 -o json --query metrics.search.total
2
$ errand usage | grep -c search
3

# v1: the client token of a rehearsal is its key.
$ PRODUCT=$(errand product search lamp --retailer harborgoods -o id | head -1)
$ errand legacy product $PRODUCT --retailer harborgoods -o json --query status
"completed"
$ errand legacy product $PRODUCT --retailer harborgoods --max-age 3.5 -o json --query status
"completed"
$ errand legacy product $PRODUCT --retailer harborgoods --max-age soon
? 2
! error: --max-age takes a number of at least 0, not "soon"
$ errand legacy product none --retailer harborgoods
? 4
! …product_not_found…
$ NEVER=$(errand sandbox products -o id | grep test-never)
$ ORDER=$(errand order create --product $NEVER --max-price '$50' --ship-to home -o id)
$ errand legacy retry $ORDER
? 2
! …only a failed order can be retried…
$ errand sandbox trigger failed $ORDER --error-type retailer_unavailable > /dev/null
$ NEW=$(errand legacy retry $ORDER -o id)
$ errand legacy retry $ORDER
? 5
! error: the same order was placed …; no second one was placed…
$ errand legacy retry $ORDER --new -o json --query "[0].request_id == '$NEW'"
true
