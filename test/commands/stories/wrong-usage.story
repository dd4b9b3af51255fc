# Wrong usage is refused before anything is sent, with a message that names the flag.
$ errand ordr list
? 2
! error: unknown command 'ordr' (Did you mean order?)

$ errand order list --limt 5
? 2
! error: unknown option '--limt' (Did you mean --limit?)

$ errand order create --price 50
? 2
! error: unknown option '--price' (Did you mean --max-price?)

$ errand search tea --price 50
? 2
! error: unknown option '--price' (Did you mean one of --min-price, --max-price?)

$ errand wallet --price 50
? 2
! error: unknown option '--price'
! hint: `errand wallet --help` shows its arguments and flags.

$ errand order list --limit 501
? 2
! error: --limit takes a whole number from 1 to 500, not "501"

# A state that no order has is refused before the service is asked.
$ errand order list --status lost
? 2
! error: --status takes one of waiting, in-progress, placed, in-transit, ready-for-pickup, delivered, undeliverable, failed, cancelled, cancelled-by-retailer, not "lost"
$ errand order list --status delivrd
? 2
! error: --status takes one of waiting, in-progress, placed, in-transit, ready-for-pickup, delivered, undeliverable, failed, cancelled, cancelled-by-retailer, not "delivrd"; did you mean delivered?
$ errand order list --has-tracking=maybe
? 2
! error: --has-tracking takes true or false, not "maybe"
! hint: `errand order list --help` shows its arguments and flags.
$ errand order list --limit
? 2
! error: --limit is without its value: --limit <n>
! hint: `errand order list --help` shows its arguments and flags.
$ errand order list --fields staet
? 2
! error: --fields: there is no field staet; there are …; did you mean state?
$ errand address show hme
? 4
! error: there is no address "hme"; saved are home; did you mean home?
$ errand profile use locl
? 2
! error: there is no profile "locl"; known are local; did you mean local?
$ errand config set output jsn
? 2
! error: output takes one of table, json, ndjson, csv, tsv, yaml, id, not "jsn"; did you mean json?
$ errand return list --status denyed
? 2
! error: --status takes one of open, in_progress, approved, denied, completed, credited, not "denyed"; did you mean denied?
$ errand order list --since 2026-02-30
? 2
! error: --since: there is no 2026-02-30
$ errand order list --since someday
? 2
! error: --since takes a date (2026-01-31), a month (2026-01), today, yesterday, an age (7d) or a time (2026-01-31T09:00:00Z), not "someday"
$ errand order list --created-after 2026-02-30
? 2
! error: --created-after: there is no 2026-02-30

# What was probably meant is named, and not run.
$ errand watch
? 2
! error: unknown command 'watch' (Did you mean errand order watch?)
$ errand order create https://shop.example/p --max-price 50.00
? 2
! error: "https://shop.example/p" belongs to --product
! try: errand order create --product https://shop.example/p --max-price 50.00 — with its flag
$ errand order create coffee beans
? 2
! error: `order create` takes products by --product, not "coffee beans"
! try: errand search coffee beans --pick — to search for it, and order what you pick
$ errand order list -o
? 2
! error: -o takes one of table, json, ndjson, csv, tsv, yaml, id
! hint: `errand order list --help` shows its arguments and flags.
$ errand help ordr
? 2
! error: no command or topic "ordr" (Did you mean errand help order?)

$ errand order create --product https://shop.example/p --max-price 'EUR 50'
? 2
! error: --max-price EUR 50 is not in USD; the service takes amounts in USD only

$ errand order create --product https://shop.example/p --max-price "$50.00"
? 2
! error: --max-price is $0.00, and an order with that ceiling buys nothing
! hint: A shell takes the $5 out of "$50.00": write '$50.00'. If you mean zero, write --max-price-cents 0.

$ printf 'max_price: 0x1388\n' | errand order create --file -
? 2
! error: stdin, line 1: max_price is written 0x1388; write numbers in decimal digits, such as 5000, and text in quotes

$ printf 'quantity: 1\npayment: {margin: {type: flat, value: 0x64}}\n' | errand order create --file -
? 2
! error: stdin, line 2: payment.margin.value is written 0x64; write numbers in decimal digits, such as 5000, and text in quotes

$ printf 'max_price: 0\n' | errand order create --file -
? 2
! error: stdin: max_price is 0, and an order with that ceiling buys nothing
! hint: Give the ceiling in cents, such as 5000 for $50.00. If you mean zero, add --max-price-cents 0.

$ errand order list --metadata-key team
? 2
! error: --metadata-key needs --metadata-value

$ errand order get 123
? 2
! error: order id "123" is not a UUID…

$ errand order get
? 2
! error: `errand order get` needs <ids>: ids of orders; - reads them from stdin
! hint: `errand order get --help` shows its arguments and flags.

$ errand shop
? 2
! error: unknown command 'shop'
! hint: `errand --help` lists the commands.

$ errand order cancel --dry-run 00000000-0000-4000-8000-000000000001 00000000-0000-4000-8000-000000000002 | grep -c '"method": "POST"'
2

$ errand order create --product https://shop.example/p --max-price 5000 --ship-to home
? 2
! error: --max-price 5000 is ambiguous…

$ errand order create --product https://shop.example/p --ship-to home
? 2
! error: --max-price is missing; cannot prompt, as …

$ errand order create --product https://shop.example/p,quantity=0 --max-price '$5' --ship-to home
? 2
! error: --product: quantity takes a whole number of at least 1, not "0"

$ errand order create --product https://shop.example/p --max-price-cents 99999999999999999999 --ship-to home
? 2
! error: --max-price-cents takes a whole number from 0 to 9007199254740991, not "99999999999999999999"

$ errand order create --product https://shop.example/p,Quantiy=2 --max-price '$5' --ship-to home
? 2
! error: --product: ",Quantiy=2" is not an option; write quantity=2. Options are quantity=2…

$ errand order create --product https://shop.example/p --max-price '$5' --ship-to nowhere
? 2
! error: --ship-to: there is no address "nowhere"…

$ errand order create --product https://shop.example/p --max-price '$5' --ship-to home --gift-message hi --dry-run | grep is_gift
    "is_gift": true,

$ errand order create --product https://shop.example/p --max-price '$5' --ship-to home --until placed
? 2
! error: --until needs --watch

$ errand order create --product https://shop.example/p --max-price '$5' --ship-to home --country USA
? 2
! error: shipping_address.country (--country): country takes a two-letter code: use US in place of USA…

$ errand order create --product https://shop.example/p --max-price '$5' --ship-to home --country constructor --gift-message hi
? 2
! error: shipping_address.country (--country): country takes a two-letter ISO 3166-1 code such as US…

$ errand retailer check https://shop.example/p --country USA
? 2
! error: --country: country takes a two-letter code: use US in place of USA

$ errand order create --product https://shop.example/p --max-price '$5' --ship-to home --idempotency-key 1234567890123456789012345678901234567
? 2
! error: --idempotency-key takes at most 36 characters, and this has 37

$ errand order create --product https://shop.example/p --max-price '$5' --ship-to home --payment-mode connect --margin 5
? 2
! error: --margin 5 is ambiguous: write '$5' for $5.00 or 5% for a percentage

$ errand order watch 00000000-0000-4000-8000-000000000001 --interval 0s
? 2
! error: --interval 0s would ask the service without a pause; 500ms is short enough

$ errand wallet --base-url not-a-url
? 2
! error: --base-url…

$ errand sandbox serve --fault explode
? 2
! error: --fault "explode" is not a fault; …
$ errand sandbox trigger exploded
? 2
! error: there is no event "exploded"; …

$ errand product get p1 --retailer harborgoods --newer-than soon
? 2
! error: --newer-than takes a date (2026-01-31), unix seconds (1795000000), today, yesterday, an age (7d) or a time (2026-01-31T09:00:00Z), not "soon"

$ printf 'metadata: 5\nmax_price: 5000\n' | errand order create --file - --product https://shop.example/p --ship-to home
? 2
! error: metadata (--metadata, stdin): Input should be an object…

# A pick is made by a person; a script is told what to run in its place.
$ errand search coffee --pick
? 2
! error: --pick asks which product to order; cannot prompt, as stdin is not a terminal
! try: errand search coffee -o id — to print the URLs
$ errand order create --max-price '$50'
? 2
! error: --product is missing; cannot prompt, as stdin is not a terminal
! hint: `errand search WORDS` finds products; …
! try: errand order create --max-price '$50' --product 'https://…' — with the missing values filled in

$ errand config edit
? 2
! error: an editor needs a terminal, and stdin is not a terminal
! try: errand config set NAME VALUE — in a script
