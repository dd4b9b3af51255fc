# The contract, read off the tables that the program itself works by; nothing is sent.
$ errand schema operations -o csv --fields name,method,path | grep '^order.c'
order.create,POST,/orders
order.cancel,POST,/orders/{order_id}/cancel
$ errand schema order.list -o json --query "parameters[?name=='limit'].[min,max,default] | [0]" -o csv
1
500
50
$ errand schema 'get /orders'
name…order.list
…
$ errand schema OrderCreate -o csv --fields field,type,required,bounds | grep -E '^(max_price|gift_message)'
max_price,integer,true,minimum 0
gift_message,string or null,false,maxLength 240
$ errand schema OrderCreate -o json --query 'additionalProperties'
false
$ errand schema orderStatuses -o id
pending
in_progress
order_placed
order_failed
cancelled
cancelled_by_retailer
$ errand schema orderListLimit -o json --query max
500
$ errand schema insufficient_funds -o csv --fields code,status
code,status
insufficient_funds,402
$ errand schema out_of_stock -o csv --fields kind,status,group
kind,status,group
code,400,
error_type,,product
$ errand schema errors -o json --query "[?hint==null]"
[]
$ errand schema events -o id | head -1
request_succeeded
$ errand schema orders.create
? 2
! error: the contract has no "orders.create"; did you mean …order.create…
! try: errand schema…

# What a command prints has a published shape, and so have failures.
$ errand schema output -o id | head -2
quickstart
search
$ errand schema output wallet -o json > wallet.schema.json
$ jq .title wallet.schema.json
"errand wallet -o json"
$ errand schema output order list -o csv --fields field,type | grep '^status'
status,string or null
$ errand schema output order.journal.list -o json --query '"$defs".JournalRecord.additionalProperties'
false
$ errand schema output error -o csv --fields field,required | grep exit_code
error.exit_code,true
$ errand schema output --all -o json --query 'keys("$defs")' -o json | grep -c '"order.list"'
1
$ errand schema output order
? 2
! error: there is no command "order"; did you mean order.create…
! try: errand schema output…

$ errand schema output order.list order.get
? 2
! error: give the name of one command, such as order.list; --all prints every schema
$ errand schema output JournalRecord
? 2
! error: there is no command "JournalRecord"; what prints it: …order.journal.list…
! try: errand schema output…
$ errand schema output --all --query 'keys("$defs")'
? 2
! error: --query picks from JSON: add -o json to --all

# Has the service moved? 7 where a client of the contract would break.
$ errand schema diff
! no difference; …operations compared
$ errand schema diff -o json
[]
$ errand api /openapi.json > served.json
$ sed 's/"maximum": 200/"maximum": 100/' served.json | errand schema diff --against - -o csv --fields change,operation,field,aspect,contract,service
? 7
change,operation,field,aspect,contract,service
tightened,GET /orders/bulk,limit,maximum,200,100
$ sed 's/"maximum": 200/"maximum": 900/' served.json | errand schema diff --against - -o csv --fields change,service
change,service
loosened,900
$ sed 's/"maximum": 200/"maximum": 900/' served.json | errand schema diff --against -
CHANGE…
loosened…
! 1 loosened; …operations compared
$ errand schema diff --against embedded:/openapi.json
! no difference…
$ errand schema diff --against embedded:/wallet/me
? 1
! …it is not an OpenAPI document…
$ errand schema diff --against https://example.com/openapi.json
? 2
! error: https://example.com is not the service in use…
$ errand schema diff --curl --base-url http://127.0.0.1:1
curl -sS 'http://127.0.0.1:1/openapi.json'…
…
