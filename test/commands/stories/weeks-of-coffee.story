# Coffee each week, twelve times. It is all in one file.
$ URL=$(errand sandbox products -o id | grep test-success)
$ TODAY=$(date -u +%F)
$ errand standing add coffee --product $URL --max-price '$50' --ship-to home --every 1w --starts $TODAY --count 12 --late 6d
name      coffee
state     active
schedule  every 1w from …, 12 times at 00:00 UTC
late      6d
ceiling   $50.00
live      no
file      …/standing.yaml
! due now: …
$ errand standing add coffee --product $URL --max-price '$50' --ship-to home --every 1w
? 2
! error: there is a standing order coffee already; nothing was changed

# Today's is bought, once.
$ errand standing run -o csv --fields name,outcome
name,outcome
coffee,placed
$ errand standing run
! nothing is due
! next: coffee on …

# One week is left out, and one is paused and resumed in time.
$ THIRD=$(errand standing show coffee --offline -o json --query 'next_dates[2].date' | tr -d '"')
$ errand standing skip coffee $THIRD -o json --query 'length(skip)'
1
$ errand standing pause coffee -o json --query state | tr -d '"'
paused
$ errand standing run
! nothing is due
$ errand standing resume coffee -o json --query state | tr -d '"'
active

# Twelve weeks, in steps of six days: of 12 dates one was skipped, and one is bought already.
$ for step in $(seq 14); do errand sandbox advance 6d > /dev/null; errand standing run -o id 2> /dev/null; done | wc -l
10
$ errand order list --all -o id | wc -l
11
$ errand standing list -o json --query '[].[name, state, orders]' | tr -d ' \n'
[["coffee","ended",11]]
$ errand reconcile -o json --query agrees
true

# What costs more than its ceiling says so, with the command that raises it.
$ DEAR=$(errand sandbox products -o id | grep test-price-exceeded)
$ SOON=$(errand sandbox advance 1s -o json --query now | cut -c2-11)
$ errand standing add dear --product $DEAR --max-price '$20' --ship-to home --dates $SOON --late 2d > /dev/null
! …
$ errand standing run dear -o csv --fields name,outcome
name,outcome
dear,placed
$ errand sandbox advance 1h > /dev/null
$ errand standing run dear -o csv --fields name,outcome
? 7
name,outcome
dear,waiting
! error: dear, …: failed: price of $… above the ceiling of $20.00; tried again in …
! try: errand standing edit dear --max-price '$30.00' — to raise its ceiling; the next run then tries again at once
! …
$ errand standing edit dear --max-price '$30.00' -o json --query max_price
3000
$ errand standing run --dry-run dear -o csv --fields name,outcome
name,outcome
dear,would_place

# What was missed is reported, once.
$ SOON=$(errand sandbox advance 1s -o json --query now | cut -c2-11)
$ errand standing add tea --product $URL --max-price '$50' --ship-to home --every 1w --starts $SOON > /dev/null
! …
$ errand sandbox advance 3d > /dev/null
$ errand standing run tea -o csv --fields name,outcome
? 7
name,outcome
tea,missed
! error: tea, …: it was not bought from … until …, and is too late now…
! …
$ errand standing run tea
! nothing is due
! next: tea on …
$ errand standing remove tea -o csv --fields name,state
name,state
tea,removed
