# Any request, with the key and the errors of the other commands. Without -o the response is JSON.
$ errand api wallet/me --query balance
100000
$ errand api /orders -i -o json --query total
0
! HTTP 200
! content-type: application/json
$ errand api /nothing-here
? 4
! error: There is nothing at GET /nothing-here. (not_found)
$ errand api /nothing-here -o json
? 4
! {"error":{…"status":404…
$ errand api DELETE /orders
? 2
! error: DELETE /orders is no operation of the service, so neither the journal nor an audit sees what it does
! hint: If it cannot place an order, add --unknown-path.
$ errand api DELETE /orders --unknown-path
? 2
! …405…

# An order moves money: it goes through the journal, with a key of its own or with one that is made.
$ errand sandbox mint --no-store -o json --query example_order > order.json
$ FIRST=$(errand api POST /orders --input order.json -o id)
$ errand api POST /orders --input order.json
? 5
! error: the same order was placed …
! try: errand api POST /orders --input order.json --new — for another order
$ errand api POST /orders/bulk -f 'rows[][product_url]=https://x.example/1' --dry-run | grep '"idempotency_key"'
        "idempotency_key": "…
$ sed '1s/{/{"idempotency_key": "story-1",/' order.json > keyed.json
$ ORDER=$(errand api POST /orders --input keyed.json -o id)
$ errand api POST orders --input keyed.json --query "id == '$ORDER'"
true
! this order existed already; nothing was ordered twice
$ errand order journal list --all -o csv --fields key,state | grep story
story-1,reported
$ errand api --paginate '/orders?limit=1' -o id | grep -c .
2
$ sed 's/5000/50.00/' keyed.json | errand api /orders --input -
? 2
! error: stdin: max_price is 50.00, and files carry integer cents: write 5000…
$ errand api POST /orders --input keyed.json -H 'X-Team: web'
? 2
! error: -H does not apply to POST /orders: …
$ errand api POST /orders/ --input order.json
? 2
! error: POST /orders/ is not a path of the service; POST /orders is, and goes through the journal
$ errand api POST /x/..%2forders --input order.json --unknown-path
? 2
! error: POST /x/..%2forders is no operation of the service, and not a plain path…

# Fields: -f is text, -F is typed, brackets make objects and lists.
$ errand api /users -f 'a[b]=1' -F 'a[c]=1' -F 'list[]=true' -F 'list[]=null' -F zip=02134 --dry-run | grep '"[bc]": '
      "b": "1",
      "c": 1
$ errand api /users -F zip=02134 --dry-run | grep '"zip"'
    "zip": "02134"
$ printf 'from a file' > note.txt; errand api /users -F note=@note.txt --dry-run | grep '"note"'
    "note": "from a file"
$ printf 'from stdin' | errand api /users -F note=@- --dry-run | grep '"note"'
    "note": "from stdin"
$ errand api GET /orders -f 'include[]=tracking_events' -F limit=1 --dry-run -o id
…

# The key goes to the configured service only, and is never given by hand.
$ errand api https://example.com/orders
? 2
! error: https://example.com is not the service in use…
$ errand api -H 'Authorization: Bearer abc' /orders
? 2
! error: -H does not take an Authorization header…
! try: errand auth status…
$ errand api -H 'no header' /orders
? 2
! error: -H takes 'Name: value'

# What is not JSON is passed as it is.
$ errand api /orders/export | cut -d, -f1,2
id,status
…
$ errand api /orders/export --query id
? 2
! error: --fields and --query do not apply: the response is text/csv, not JSON
$ errand api /wallet/me --paginate
? 2
! error: --paginate reads lists, and the response to GET /wallet/me is not one…
