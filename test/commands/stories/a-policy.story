# Before anything is spent, somebody writes down how much may be.
$ errand policy show
! there is no policy, so spending is not limited; …
$ errand policy init -o id > /dev/null
$ errand policy show -o csv --fields rule,value
rule,value
limits.per_order,$200.00
limits.per_day,"$2,000.00"

# It holds on this machine; only machines that share a database have one to publish it in.
$ errand policy publish
? 2
! error: no database is named, so there is nowhere to publish a policy
! hint: On one machine the file itself holds. …
$ errand policy trust
? 2
! error: no database is named, so no policy is published to this machine
! hint: … names a database.

# An order is looked at before it is placed, and one that is too dear is never sent.
$ URL=$(errand sandbox products -o id | grep test-slow)
$ errand policy check --product $URL --max-price '$199.00' --ship-to home -o json --query outcome
"allowed"
$ errand policy check --product $URL --max-price '$199.01' --ship-to home -o json --query outcome
? 11
"refused"
$ errand order create --product $URL --max-price '$199.01' --ship-to home
? 11
! error: the policy refuses this order: limits.per_order: $200.01 is more than $200.00 for an order; nothing was sent …
! try: errand policy show — to see every rule
$ errand order list -o id | wc -l
0

# What is placed counts with its ceiling; once it is cancelled it no longer does.
$ errand config set sandbox-speed 1
$ ORDER=$(errand order create --product $URL --max-price '$199' --ship-to home -o id)
$ errand policy usage -o csv --fields used_cents,left_cents
used_cents,left_cents
20000,180000
$ errand order cancel $ORDER > /dev/null
$ errand policy usage --refresh -o csv --fields used_cents,left_cents
used_cents,left_cents
0,200000

# A policy that nobody can read lets nothing through.
$ printf 'version: 1\nlimit:\n  per_day: $100\n' > policy.yaml; chmod 600 policy.yaml
$ ERRAND_POLICY=$PWD/policy.yaml errand order create --product $URL --max-price '$20' --ship-to home
? 11
! error: the policy cannot be used: …policy.yaml, line 2: "limit" is not known; did you mean limits? …
