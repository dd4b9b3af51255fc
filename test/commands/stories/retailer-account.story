# A password comes from a file, a pipe or a hidden prompt; no flag takes one.
$ printf 'hunter2-hunter2' > password.txt
$ ACCOUNT=$(errand account add --email ada@example.com --retailer membersbarn --password-file password.txt -o id)
$ errand account list -o csv --fields email,retailer,has_totp
email,retailer,has_totp
ada@example.com,membersbarn,false

$ errand account add --email ada@example.com --retailer membersbarn --password-file password.txt
? 5
! …stored for this retailer already…
$ errand account add --email bob@example.com < /dev/null
? 2
! error: --password-file is missing; cannot prompt, as stdin is not a terminal
! try: errand account add --email bob@example.com --password-file FILE — with the missing values filled in
$ errand account add < /dev/null
? 2
! error: --email and --password-file are missing; cannot prompt, as stdin is not a terminal
$ errand account add --email bob@example.com --password-file /dev/zero
? 2
! …is too large…at most 4096 bytes
$ errand account add --email bob@example.com --password-file nowhere.txt
? 2
! error: --password-file: nowhere.txt cannot be read (there is no such file)
$ errand account add --email bob@example.com --password hunter2
? 2
! …unknown option '--password'…
$ errand account add --email bob@example.com --password-file password.txt --dry-run | grep -c hunter2
? 1
0

# The rotating code is not the secret.
$ echo 123456 | errand account update $ACCOUNT --totp-file -
? 2
! error: --totp-file holds a 6-digit code: …64-character secret…
$ printf '%064d' 7 | errand account update $ACCOUNT --totp-file - -o json --query has_totp
true
$ errand account update $ACCOUNT --email new@example.com -o csv --fields email,has_totp
email,has_totp
new@example.com,true

# What is stored can be taken away again, and put back.
$ errand account update $ACCOUNT --clear two-factor -o json --query has_totp
false
$ errand account update $ACCOUNT --any-retailer --clear config -o csv --fields retailer,has_totp
retailer,has_totp
any,false
$ errand account update $ACCOUNT --clear password --password-file password.txt
? 2
! error: --clear password takes away what another flag gives; leave one of them out
$ errand account update $ACCOUNT --clear everything
? 2
! error: --clear takes one of password, two-factor, config, not "everything"
$ printf '%064d' 7 | errand account update $ACCOUNT --retailer membersbarn --totp-file - -o csv --fields retailer,has_totp
retailer,has_totp
membersbarn,true

# Orders with the account cost the wallet the fee alone.
$ URL=$(errand search coffee --retailer membersbarn --limit 1 -o json --query '[0].url' | tr -d '"')
$ errand order create --product $URL --max-price '$900' --ship-to home
? 7
! …guest_checkout_not_supported…
$ ORDER=$(errand order create --product $URL --max-price '$900' --ship-to home --account $ACCOUNT -o id)
$ errand order watch $ORDER --until placed -o json --query status
"order_placed"
$ errand wallet -o json --query balance
99900

$ errand account forwarding $ACCOUNT --wait --timeout 5s
? 8
! …no digits…
$ errand account list -o id | errand account remove -
…
$ errand account list
! no account is stored; …
