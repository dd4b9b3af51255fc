# Each kind of retailer responds in its own way, and says so.
$ errand product search coffee --retailer harborgoods -o csv --fields product_id,currency_code | head -1
product_id,currency_code
$ errand product search coffee --retailer harborgoods > /dev/null
! --page 2 for the next page, --all for every one
$ errand product search coffee --retailer morningroast.example --page 2
? 2
! …has one page…
$ errand product search coffee
? 2
! error: --retailer is missing; …
$ errand product search coffee --retailer nowhere
? 2
! …unsupported_retailer…

# A product may take a while: --async responds at once, --wait polls.
$ PRODUCT=$(errand product search lamp --retailer harborgoods -o id | head -1)
$ errand product get $PRODUCT --retailer harborgoods --async -o json --query status
"processing"
$ errand product get $PRODUCT --retailer harborgoods --wait -o json --query status
"completed"
$ errand product offers $PRODUCT --retailer harborgoods -o json --query 'length(@) > `0`'
true
$ errand product get nothing-of-this-name --retailer harborgoods
? 4
! …product_not_found…
$ errand product get $PRODUCT --retailer harborgoods --max-age 60 --newer-than 2026-01-01
? 2
! error: --max-age and --newer-than exclude each other

# How fresh it has to be: in seconds, or by a time, which may be in unix seconds.
$ errand product get $PRODUCT --retailer harborgoods --newer-than 1767225600 --debug -o json --query status
"completed"
! …newer_than=1767225600…
$ errand product get $PRODUCT --retailer harborgoods --newer-than 17672256000000
? 2
! error: --newer-than…
$ errand product get $PRODUCT --retailer harborgoods --max-age 31.5
? 2
! error: --max-age takes a whole number of at least 31, not "31.5"
