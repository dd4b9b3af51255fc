# A CI job tests a shop against a service of its own: the job is a command, and the service is gone when it ends.
$ echo '{"products":[{"url":"SHOP/test-success"}],"max_price":5000,"shipping_address":{"first_name":"Ada","last_name":"Byron","address_line1":"1 Main St","city":"Austin","state":"TX","postal_code":"78701","country":"US","phone_number":"5125550100"}}' > order.json
$ errand sandbox exec --speed 50 -- sh -c 'sed "s|SHOP|$ERRAND_SHOP_URL|" order.json | errand order create --file - --watch -o json --query status'
"order_placed"

# The job has the exit code of its command.
$ errand sandbox exec -- sh -c 'exit 3'
? 3

# A service that refuses each card, and the shop's own words for it.
$ errand sandbox exec --fault '402:payment_failed@POST /orders' -- sh -c 'sed "s|SHOP|$ERRAND_SHOP_URL|" order.json | errand order create --file - -o json 2> refused.json; echo "exit $?"; jq -r .error.code refused.json'
exit 6
payment_failed
