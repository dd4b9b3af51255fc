# The month is over: what did it cost, and where did the money go?
$ SHOP=$(errand sandbox products -o json --query "[?scenario=='success'] | [0].url" | tr -d '"')
$ errand order create --product $SHOP --max-price '$50' --ship-to home --po-number PO-7 --metadata team=office --watch --timeout 10m -o id
…
! …
$ GONE=$(errand sandbox products -o id | grep test-out-of-stock)
$ errand order create --product $GONE --max-price '$50' --ship-to home --metadata team=lab --watch --timeout 10m -o id
? 7
…
! …
$ NEVER=$(errand sandbox products -o id | grep test-never)
$ errand order create --product $NEVER --max-price '$50' --ship-to home --metadata team=lab -o id
…

# What failed cost nothing, and what is on its way holds its ceiling and the fee.
$ errand spend --by metadata.team
TEAM    ORDERS   SPENT  FEES*     NET   HELD*
lab          2   $0.00  $0.00   $0.00  $51.00
office       1  $19.99  $1.00  $20.99   $0.00
total        3  $19.99  $1.00  $20.99  $51.00
! * by rule: at least part of the amount is computed from the rules of the service, not read from a record
! time zone: UTC (change it with --time-zone)
$ errand spend --by po --since 1d -o csv --fields group,net_cents
group,net_cents
,0
PO-7,2099
$ errand wallet -o csv --fields balance,spendable_balance
balance,spendable_balance
97901,92801

# A page to hand on, which is written over only where that is meant.
$ errand spend --by day --html november.html -o id
…
! wrote november.html
$ grep -c "default-src 'none'" november.html
1
$ errand spend --html november.html
? 2
! error: november.html already exists; use --force to overwrite it
$ errand spend --by weekday
? 2
! error: --by takes day, month, retailer, country, po, account or metadata.KEY, not "weekday"; did you mean day?

# The books: every cent that left the wallet, for the program that keeps them.
$ errand spend export --as beancount --opening-balance '$1,000.00' --out books.beancount -o csv --fields added,there,books_wallet_cents,wallet_cents
added,there,books_wallet_cents,wallet_cents
3,0,97901,97901
$ grep -c 'Assets:Errand:Wallet  -19.99 USD' books.beancount
1

# What was bought since is added, once, however often it is run.
$ errand order create --product $SHOP --max-price '$50' --ship-to home --new --watch --timeout 10m -o id
…
$ errand spend export --as beancount --out books.beancount -o csv --fields added,there,books_wallet_cents,wallet_cents
added,there,books_wallet_cents,wallet_cents
2,3,95802,95802
$ errand spend export --as beancount --out books.beancount -o csv --fields added,there
added,there
0,5
$ errand spend export --as ofx --out books.beancount
? 2
! error: --out books.beancount was not written by spend export --as ofx; nothing was added to it
! hint: Name another file, and include it in yours.
