# What an order, and a call that orders nothing, can be refused with.
$ SHOP=$(errand sandbox products -o id | grep test-success | sed 's/test-success$//')

$ errand order create --product ${SHOP}test-refused-payment-failed --max-price '$50.00' --ship-to home
? 6
! error: …(payment_failed)

$ errand order create --product ${SHOP}test-refused-retailer-country-not-supported --max-price '$50.00' --ship-to home
? 7
! error: …(retailer_country_not_supported)

$ errand order create --product ${SHOP}test-refused-out-of-stock --max-price '$50.00' --ship-to home
? 7
! error: …(out_of_stock)

$ errand retailer check ${SHOP}test-refused-unsupported-retailer -o json --query unsupported_reason
? 7
"unsupported_retailer"

$ errand order list -o json --query 'length(@)'
0

# An empty wallet covers no search.
$ errand sandbox trigger wallet-emptied -o json --query '[0].balance'
0

$ errand search coffee
? 6
! error: …(insufficient_funds)

$ errand sandbox trigger wallet-funded --amount '$50' -o json --query '[0].balance'
5000

$ errand search coffee --limit 1 -o json --query 'length(@)'
1

$ errand product get test-refused-payment-method-required --retailer harborgoods
? 6
! error: …(payment_method_required)

# A page that free shipping leaves nothing of, while others follow.
$ errand product search tea --retailer voltcorner --free-shipping -o json --query 'length(@)'
0

$ errand product search tea --retailer voltcorner --free-shipping --all -o json --query 'length(@)'
1

# A ceiling is in US dollars, whatever the price is in.
$ errand search test-other-currency --limit 1 -o json --query '[0].currency_code'
"EUR"

$ errand order create --product ${SHOP}test-other-currency --max-price '$20.00' --ship-to home --watch -o json --query 'job_result.error_type'
? 7
"max_price_exceeded"

$ errand order create --product ${SHOP}test-other-currency --max-price '$22.23' --ship-to home --watch -o json --query 'job_result.price_components.converted_payment_total'
2223
