# A saved address is looked at, changed and taken away again.
$ errand address add work --first-name Ada --last-name Byron --address-line1 '1 Main St' --city Austin --state TX --postal-code 78701 --country US --phone-number 5125550100 >/dev/null
$ errand address list -o id
work
$ errand address update work --city Dallas --postal-code 75201 >/dev/null
$ errand address show work -o json --query city
"Dallas"
$ errand address remove work
! removed the address work
$ errand address show work
? 4
! error: there is no address "work"

# So is a profile.
$ errand profile set shop --base-url http://127.0.0.1:9 >/dev/null
$ errand profile use shop
! using profile shop: http://127.0.0.1:9
$ errand profile list -o csv --fields name,current
name,current
local,false
shop,true

# It may share a database with other machines; its address is stored from a file, and shown without its password.
$ echo postgres://ada:hunter22@127.0.0.1:1/team > address.txt; errand profile database shop < address.txt
! profile shop shares 127.0.0.1:1/team; `errand doctor` looks at it
$ errand profile list -o csv --fields name,database
name,database
local,
shop,127.0.0.1:1/team
$ errand config path -o json --query database.name
"shop"
$ echo mysql://ada:hunter22@127.0.0.1/team | errand profile database shop
? 2
! error: stdin is not the address of a PostgreSQL database…
! hint: Write % @ : / ? # in a user or password as …
$ errand profile database shop --forget
! profile shop shares no database
$ errand profile delete shop
! deleted shop; using local
$ errand profile use shop
? 2
! error: there is no profile "shop"; known are local

# And a preference.
$ errand config set duplicate-window 5m
! duplicate-window = 5m
$ errand config get duplicate-window
5m
$ errand config list -o csv --fields name,value | grep duplicate
duplicate-window,5m
$ errand config path -o json --query config
…config.json"

# A key comes from stdin, and is forgotten on request.
$ errand sandbox mint --no-store -o json --query api_key | tr -d '"' > key.txt
$ errand auth token < key.txt
! stored sbx_test_…
$ errand sandbox status -o json --query claimed
false
$ errand auth logout
! forgot the keys of profile local
$ errand auth logout
! profile local has no key
