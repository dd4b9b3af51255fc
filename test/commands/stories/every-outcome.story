# The eight test products of the specification, each to its end.
$ SHOP=$(errand sandbox products -o id | grep test-success | sed 's/test-success$//')

$ errand order create --product ${SHOP}test-success --max-price '$50.00' --ship-to home --watch -o json --query 'tracking_numbers[0].status'
"delivered"

$ errand order create --product ${SHOP}test-price-exceeded --max-price '$50.00' --ship-to home --watch -o json --query 'job_result.error_type'
? 7
"max_price_exceeded"

$ errand order create --product ${SHOP}test-out-of-stock --max-price '$50.00' --ship-to home --watch
? 7
…
…out_of_stock…

$ errand order create --product ${SHOP}test-invalid-variant --max-price '$50.00' --ship-to home --watch
? 7
…
…invalid_variant…

$ errand order create --product ${SHOP}test-shipping-unavailable --max-price '$50.00' --ship-to home --watch
? 7
…
…shipping_unavailable…

$ errand order create --product ${SHOP}test-invalid-address --max-price '$50.00' --ship-to home
? 7
! error: …(invalid_shipping_address)

$ errand order create --product ${SHOP}test-url-unreachable --max-price '$50.00' --ship-to home
? 7
! error: …(url_unreachable)

$ errand order create --product ${SHOP}test-insufficient-funds --max-price '$50.00' --ship-to home
? 6
! error: …(insufficient_funds)
