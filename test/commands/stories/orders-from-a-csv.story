# A file to fill in, valid as it stands.
$ errand bulk template > orders.csv
$ errand bulk validate orders.csv --local
! 2 rows, all valid
…
$ errand bulk validate orders.csv
! 2 rows, all valid
! at most $172.00, of $1,000.00 in the wallet

# Every error of every row, numbered as a spreadsheet does.
$ printf 'Item,Limit,Ship To,address,city,zip,phone\nhttps://x.example/1,12.50,Ada,1 Main St,Austin,787,5125550100\n' > theirs.csv
$ errand bulk validate theirs.csv
? 2
! error: the headings of theirs.csv: no column for product_url, max_price, name
…
$ errand bulk validate theirs.csv --map Item=product_url --map Limit=max_price_cents --map 'Ship To=name' --save-map theirs -o csv --fields row,column,value
? 7
row,column,value
2,max_price_cents,12.50
2,name,Ada
2,postal_code,787
$ errand bulk validate theirs.csv --use-map theirs -o json --query 'length(@)'
? 7
3
$ errand bulk upload theirs.csv --use-map theirs
? 7
! …nothing was sent
…
$ errand bulk validate theirs.csv --use-map their
? 2
! error: there is no map "their"; exports have shopify, woocommerce, amazon-business, amazon-seller, etsy, ebay, square, bigcommerce, magento, and saved are theirs
! hint: `errand bulk maps` says what each of them does.

# An export of a shop says where the orders go; what to buy, and for how much, is added to it.
$ printf 'Name,Lineitem quantity,Shipping Name,Shipping Address1,Shipping City,Shipping Zip,Shipping Province,Shipping Phone,Phone' > shop.csv
$ cp shop.csv bought.csv
$ printf '\n#1001,1,Ada Byron,1 Main St,Lakewood,'"'"'08701,NJ,,5125550100\n' >> shop.csv
$ errand bulk validate shop.csv --local
? 2
! error: the headings of shop.csv: no column for product_url, max_price, address_line1, city, postal_code
…
! hint: This looks like orders exported from Shopify: --use-map shopify reads it…
$ errand bulk validate shop.csv --local --use-map shopify
? 2
! error: the headings of shop.csv: no column for product_url, max_price
…
! hint: An export does not say what to buy, or for how much: add the columns that are missing, or map them…
$ printf ',product_url,Limit\n#1001,1,Ada Byron,1 Main St,Lakewood,'"'"'08701,NJ,,5125550100,https://x.example/1,$45.00\n#1001,2,,,,,,,,https://x.example/2,$12.50\n' >> bought.csv
$ errand bulk validate bought.csv --local --use-map shopify --map Limit=max_price --save-map shop
! phone_number is that of "Phone" in 2 rows
! 1 row continues an order and has its address: row 3
! 2 rows, all valid
! at most $57.50, without fees
$ errand bulk maps -o csv
name,kind,adds_to,description
theirs,saved,,"Item is product_url, Limit is max_price_cents, Ship To is name"
shop,saved,shopify,"as shopify; Limit is max_price"
shopify,export,,"orders exported from Shopify; give each line its product_url and its price"
woocommerce,export,,"orders exported from WooCommerce, a line for each item; give each its product_url and price"
amazon-business,export,,"items exported from Amazon Business; give each its product_url, price and phone_number"
…
$ errand bulk validate bought.csv --local --use-map shop
…
! 2 rows, all valid
! at most $57.50, without fees
$ errand bulk validate orders.csv --map Nothing=colour
? 2
! error: --map 'Nothing=colour': there is no column colour…

# No column is lost silently: what looks like one is used, or kept on purpose.
$ printf 'product_url,max_price,name,address,city,zip,phone,Pieces,Land\nhttps://x.example/1,$45.00,Ada Byron,1 Main St,Austin,78701,5125550100,7,US\n' > pieces.csv
$ errand bulk upload pieces.csv
? 2
! error: the headings of pieces.csv: "Pieces" looks like quantity and is not used: --map Pieces=quantity, or --own Pieces; "Land" looks like country and is not used: --map Land=country, or --own Land
…
! hint: --map uses the column; --own keeps it as one of yours, which comes back in the results. --save-map NAME saves both for the next file.
$ errand bulk validate pieces.csv --local --map Pieces=quantity --own Land --save-map pieces
! 1 row, all valid
! at most $45.00, without fees
$ errand bulk validate pieces.csv --local --use-map pieces
! 1 row, all valid
! at most $45.00, without fees

# 45 is $45.00 or $0.45: a column of bare whole numbers is refused, once for the file, until somebody says which.
$ printf 'product_url,max_price,name,address,city,zip,phone\nhttps://x.example/1,45,Ada Byron,1 Main St,Austin,78701,5125550100\n' > whole.csv
$ errand bulk upload whole.csv
? 2
! error: whole.csv: max_price can be read in two ways: 45 (row 2) means $45.00 or $0.45, all rows $45.00 or $0.45
! hint: A column headed max_price_cents is always cents. `errand config set amounts cents` (or units) settles this for every file.
! try: errand bulk upload whole.csv --amounts units…
! try: errand bulk upload whole.csv --amounts cents…
$ errand bulk validate whole.csv --amounts units --local
! 1 row, all valid
! at most $45.00, without fees

# A file without rows, or without any that is valid, is told plainly.
$ printf 'product_url,max_price_cents,name,address,city,zip,phone\n' > headings.csv
$ errand bulk validate headings.csv
? 2
! error: headings.csv has no row under its headings
$ errand bulk upload headings.csv
? 2
! error: headings.csv has no row under its headings
$ printf 'a,b\n1,2\n' > others.csv
$ errand bulk validate others.csv --local
? 2
! error: the headings of others.csv: no column for product_url, …
!   headings: a, b
! hint: --map 'Their Heading=max_price_cents' maps a heading to a column; `errand bulk template` shows all columns.

# One order for each row; the same file again places nothing twice, on purpose it does.
$ BATCH=$(errand bulk upload orders.csv -o id)
$ errand bulk upload orders.csv -o csv
id,rows,existed
…,2,true
$ errand bulk watch $BATCH -o csv --fields status,placed_count,failed_count
status,placed_count,failed_count
completed,2,0
$ errand order list -o id | wc -l
2
$ AGAIN=$(errand bulk upload orders.csv --run december --watch -o id)
$ errand order list -o id | wc -l
4
$ errand bulk results $BATCH | cut -d, -f12,14,18,20,23,24
errand_reference,status,order_state,ceiling_cents,fee_cents,refunded_cents
A-1,placed,delivered,5000,100,0
A-2,placed,delivered,12000,100,0

# What failed is taken to a file or to a new batch.
$ OUT=$(errand sandbox products -o id | grep test-out-of-stock)
$ printf 'product_url,max_price_cents,name,address,city,zip,phone\n%s,5000,Ada Byron,1 Main St,Austin,78701,5125550100\n' $OUT > mixed.csv
$ printf 'https://x.example/1,5000,Ada Byron,2 Main St,Austin,78701,5125550100\n' >> mixed.csv
$ MIXED=$(errand bulk upload mixed.csv -o id)
$ errand bulk watch $MIXED -o json --query '[0].status'
? 7
"completed"
$ errand bulk report $MIXED --by reason -o csv --fields group,rows,ordered,fees_cents
group,rows,ordered,fees_cents
,1,1,100
out_of_stock,1,1,0
$ errand bulk report $MIXED --fields row,order_state
…
! 2 rows: 2 ordered
! 2 orders: 1 …, 1 …
! 1 failed: 1 out_of_stock
…
$ errand bulk report $MIXED --html report.html
…
! wrote report.html
…
$ errand bulk retry $MIXED --to failed.csv
! wrote 1 row to failed.csv
$ errand bulk retry $MIXED --to failed.csv
? 2
! error: failed.csv already exists; use --force to overwrite it
$ RETRY=$(errand bulk retry $MIXED -o id)
$ errand bulk watch $RETRY -o json --query '[0].status'
? 7
"completed"
# It failed once more, so that nothing stands in the way of another attempt.
$ errand bulk retry $MIXED -o csv --fields rows,existed
rows,existed
1,false
$ errand bulk list -o id | wc -l
5

# More than the wallet has is refused before anything is sent.
$ sed 's/,5000,/,500000,/; s/A-/D-/' orders.csv > dear.csv
$ errand bulk upload dear.csv
? 6
! …short; nothing was sent…
…

# A rehearsal of thousands needs more than the sandbox's wallet begins with.
$ FUND=$(errand bulk upload dear.csv -o json 2>&1 | jq -r '.error.next[0].command'); eval "$FUND" -o csv --fields event
event
wallet-funded
$ errand bulk upload dear.csv -o csv --fields rows,existed
rows,existed
2,false

# Another profile's wallet is another one, and the advice is for that.
$ errand profile set other --base-url embedded:
…
$ errand sandbox mint --profile other
…
$ OTHER=$(errand bulk upload dear.csv --run other --profile other -o json 2>&1 | jq -r '.error.next[0].command'); eval "$OTHER" -o csv --fields event
event
wallet-funded
$ errand bulk upload dear.csv --run other --profile other -o csv --fields rows,existed
rows,existed
2,false

# The service is asked to tell of the end.
$ errand bulk upload orders.csv --run told --notify-on-complete --dry-run | grep notify
    "notify_on_complete": true
$ TOLD=$(errand bulk upload orders.csv --run told --notify-on-complete -o id)
$ errand bulk get $TOLD -o json --query notify_on_complete
true

# Half of a plan is applied. The upload has a name, and goes on by it from any terminal.
$ errand bulk plan orders.csv --run half --no-prices --out half.plan -o id > rows
$ errand bulk apply half.plan --rows $(head -1 rows) -o id | wc -l
1
$ NAME=$(errand bulk uploads -o id | head -1)
$ errand bulk uploads -o csv --fields state,sent | head -2
state,sent
cut short,1
$ errand bulk resume $NAME --watch -o id | wc -l
2
$ errand bulk uploads -o csv --fields state | head -2
state
sent
$ errand bulk resume $NAME
! all of … is at the service; nothing was sent
! follow: errand bulk watch …

# A file is divided among machines: each row falls to one part, and the whole file orders nothing more.
$ errand bulk upload orders.csv --run parts --shard 1/2 -o json --query '[].rows' > first
$ errand bulk upload orders.csv --run parts --shard 2/2 -o json --query '[].rows' > second
$ cat first second | tr -cd '0-9\n' | awk '{ sum += $1 } END { print sum }'
2
$ errand bulk upload orders.csv --shard 3/2
? 2
! error: --shard 3/2: the parts are 1/2 to 2/2
…
$ errand bulk upload orders.csv --share
? 2
! error: bulk upload --share needs a database that all workers reach, and none is named
! hint: Set ERRAND_DATABASE_URL, or the database of a profile. Without one, --shard 1/4 takes a part of a file.
