# The operator's morning. A file of orders, some at retailers that the service knows.
$ errand search coffee --retailer harborgoods --limit 3 -o csv --fields url,price | tr -d '\r' | tail -n +2 > found
$ echo 'product_url,max_price_cents,name,address,city,zip,phone,metadata.team' > orders.csv
$ awk -F, '{print $1 "," $2 + 2000 ",Ada Byron," NR " Main St,Austin,78701,5125550100," (NR % 2 ? "lab" : "office")}' found >> orders.csv
$ echo 'https://www.example.com/products/1,5000,Ada Byron,7 Elm St,Austin,78701,5125550100,office' >> orders.csv
$ echo 'https://www.example.com/products/1,5000,Ada Byron,7 Elm St,Austin,78701,5125550100,office' >> orders.csv

# It is planned first: nothing is ordered, and what needs a look is named.
$ errand bulk plan orders.csv --out december.plan -o csv --fields row,why
row,why
5,unknown retailer: example.com
6,"twin of row 5; unknown retailer: example.com"
$ errand bulk show december.plan
ROW …
  5 …
  6 …
! december.plan: 5 orders of orders.csv; planned …, holds until …
! at most $…, with a fee of $1.00 each; the wallet has $1,000.00, and at least $… after
! prices today: $… for 3 orders; 2 without a known price
! by retailer: …example.com 2 ($100.00)…
! by metadata.team: office 3 ($…), lab 2 ($…)
! look: 1 row with a twin: 6
! look: 2 rows of an unknown retailer: 5-6
! apply: errand bulk apply december.plan
$ errand bulk show december.plan --by retailer -o csv --fields value,orders
value,orders
harborgoods,3
example.com,2
$ errand bulk show december.plan --html december.html -o id
! wrote december.html
5
6
$ grep -c '<figure' december.html
5
$ errand order list -o id | wc -l
0

# Only you can read the plan, and it is not overwritten by mistake.
$ ls -l december.plan | cut -c1-10
-rw-------
$ errand bulk plan orders.csv --out december.plan
? 2
! error: december.plan already exists; use --force to overwrite it

# One retailer's rows first, then all but the twin. The same again places nothing twice.
$ errand bulk apply december.plan --only harborgoods --watch -o csv --fields row_count,placed_count
row_count,placed_count
3,3
$ errand bulk uploads -o csv --fields name,state,rows,sent
name,state,rows,sent
orders,cut short,5,3
$ errand bulk apply december.plan --rows 2-5 -o csv --fields rows,existed
rows,existed
3,true
1,false
$ errand bulk apply december.plan --rows 2-5 -o csv --fields rows,existed
rows,existed
3,true
1,true
$ errand order list -o id | wc -l
4

# A plan that somebody has touched is refused, and the row is named.
$ sed 's/7 Elm St/8 Elm St/' december.plan > touched.plan
$ errand bulk apply touched.plan
? 11
! error: touched.plan was altered since it was written, in rows 5-6; nothing was sent …
…

# What the policy refuses is planned all the same, to be looked at, and not placed.
$ errand policy init -o id > policy.path
$ sed -i 's/per_order: .*/per_order: $49.50/' $(cat policy.path)
$ errand bulk plan orders.csv --out december.plan --force -o csv --fields row,verdict
? 11
row,verdict
6,refused
$ errand bulk apply december.plan
? 11
! error: the policy refuses these orders: row 6, limits.per_order: $51.00 is more than $49.50 for an order; nothing was sent …
…
