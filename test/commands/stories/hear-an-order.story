# One terminal listens, registered with the sandbox; another places an order. What the sandbox sends is believed only as
# far as the order, read again, says the same.
$ SHOP=$(errand sandbox products -o id | grep test-success)
$ errand webhook register 'http://127.0.0.1:9/hooks?token=s3cret' -o json --query webhook_url
"http://127.0.0.1:9/hooks?token=…"
$ (errand webhook listen --register --events request_succeeded,tracking_obtained -o ndjson --max 2 --timeout 10m > heard.ndjson 2> notes.txt; echo "exit $?" > ended.txt) > /dev/null 2>&1 &
$ until grep -q ready heard.ndjson 2>/dev/null; do sleep 0.05; done
$ ORDER=$(errand order create --product $SHOP --max-price '$50.00' --ship-to home -o json --query id | tr -d '"')
$ until test -s ended.txt; do sleep 0.05; done; cat ended.txt
exit 0
$ grep '"event"' heard.ndjson | grep -v summary | jq -r .event
request_succeeded
tracking_obtained
$ grep '"verified":true' heard.ndjson | jq -r .order_id | sort -u | grep -c $ORDER
1

# The address that was registered before is in its place again.
$ cat notes.txt
registered http://127.0.0.1:9/hooks?token=… again

# Everything the sandbox had sent until then is kept, in the order in which it happened.
$ errand webhook events --order $ORDER --event status_updated,request_succeeded -o csv --fields event,status | tail -2
request_succeeded,order_placed
status_updated,…

# A script asserts that an event has come in one line, and is told plainly where none can.
$ errand webhook wait --order $ORDER --event request_succeeded --timeout 10m -o json --query '[event, order_id]' | tr -d ' \n'; echo
["request_succeeded","…"]
$ errand webhook wait --order $ORDER --event case_updated --timeout 300ms
? 8
! note: no `errand webhook listen` is running on this machine for the embedded sandbox, and events are received only while one is; start `errand webhook listen --register` beside this
! error: --timeout passed; no case_updated of order … had come
