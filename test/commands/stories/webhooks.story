# A script starts a listener that takes events as they come; the first line says where it listens, with the secret that keeps others out.
$ (errand webhook listen --unverified -o ndjson --events status_updated,request_failed --exec 'jq -r .status >> statuses.txt' --max 3 --timeout 10m > heard.ndjson; echo "exit $?" > ended.txt) > /dev/null 2>&1 &
$ URL=$(until grep -q ready heard.ndjson 2>/dev/null; do sleep 0.05; done; head -1 heard.ndjson | jq -r .url)

# What a service would send: each event once or more often, and something from a stranger.
$ echo '#!/usr/bin/env node' > send; echo 'const [url, event, status] = process.argv.slice(2); const body = JSON.stringify({ id: "6f1c2d3e-1111-4222-8333-444455556666", status, error_type: event === "request_failed" ? "out_of_stock" : null }); fetch(url, { method: "POST", headers: { "x-webhook-event": event }, body }).then((answer) => console.log(answer.status));' >> send; chmod +x send
$ ./send $URL status_updated pending
200
$ ./send $URL status_updated pending
200
$ ./send $URL tracking_updated pending
200
$ ./send ${URL}x status_updated pending
404
$ ./send $URL status_updated in_progress
200
$ ./send $URL request_failed order_failed
200

# It ends after three of the events asked for, each with its command, and says what it heard.
$ until test -s ended.txt; do sleep 0.05; done; cat ended.txt
exit 0
$ jq -r .type < heard.ndjson | sort | uniq -c | tr -s ' '
 3 event
 3 exec
 1 ready
 1 summary
$ cat statuses.txt
pending
in_progress
order_failed

# All that came is kept, the event that nobody asked for too.
$ errand webhook events -o csv --fields id,event,status,error_type,deliveries
id,event,status,error_type,deliveries
4,request_failed,order_failed,out_of_stock,1
3,status_updated,in_progress,,1
2,tracking_updated,pending,,1
1,status_updated,pending,,2
$ errand webhook events --event request_failed -o id
4
$ errand webhook events --event order_failed -o id
! note: order_failed is the old name of request_failed; events named request_failed are not included
$ errand webhook events 4 -o json --query body.error_type
"out_of_stock"

# The stranger knows the address, but not the service: what it does not confirm is forwarded to nobody.
$ errand webhook replay 4 --to http://127.0.0.1:9/hooks
? 4
! error: event 4 was not sent, since order 6f1c2d3e-1111-4222-8333-444455556666 does not confirm it: …
! try: errand webhook replay 4 --unverified …

# A server that is down gets the event when it is up again.
$ errand webhook replay 4 --unverified --to http://127.0.0.1:9/hooks --retries 0
? 9
! error: event 4 was not taken by http://127.0.0.1:9/hooks: the connection was refused
$ errand webhook events --failed -o id
4
$ (ERRAND_STATE_DIR="$PWD/elsewhere" errand webhook listen --unverified -o ndjson --max 1 --timeout 10m > second.ndjson 2> /dev/null &); until grep -q ready second.ndjson 2>/dev/null; do sleep 0.05; done
$ errand webhook events --failed -o id | errand webhook replay - --unverified --to $(head -1 second.ndjson | jq -r .url) -o csv --fields id,event,status
id,event,status
4,request_failed,200
$ errand webhook events --failed
! no event matches…

# Slips are found before anything listens.
$ errand webhook listen --events order_plcaed
? 2
! error: --events takes one of request_succeeded, …
$ errand webhook listen --host 0.0.0.0
? 2
! error: --host 0.0.0.0 can be reached by other machines
$ errand webhook replay four
? 2
! error: event id "four" is not a number; `errand webhook events -o id` prints them
