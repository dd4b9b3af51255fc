# What happened to the money can be looked at and proved afterwards.
$ errand config set sandbox-speed 1
$ SLOW=$(errand sandbox products -o id | grep test-slow)
$ ORDER=$(errand order create --product $SLOW --max-price '$50.00' --ship-to home --metadata team=office -o id)
$ errand order cancel $ORDER > /dev/null
$ errand audit log -o csv --fields number,kind,amount_cents,detail.outcome
number,kind,amount_cents,detail.outcome
1,intent,5000,
2,responded,,
3,cancellation,,sent
4,cancellation,,done
$ errand audit log --order $ORDER -o id
2
3
4

# It tells who and by which command, and nothing that is private.
$ errand audit log -o json --query '[0].command'
"errand order create --output id --product … --max-price-cents 5000 --metadata … --ship-to …"
$ errand audit log --last 1 -o json --query "[0].actor == '$(id -un)@$(uname -n)'"
true
$ errand audit export | grep -c -e office -e Ada -e Austin
? 1
0

# An order that ends is recorded with its cost when it is first seen, once.
$ URL=$(errand sandbox products -o id | grep test-success)
$ DONE=$(errand order create --product $URL --max-price '$50.00' --ship-to home --watch -o id)
$ errand order get $DONE > /dev/null
$ errand order get $DONE > /dev/null
$ errand audit log --kind settled --order $DONE -o json --query 'length(@)'
1
$ TOTAL=$(errand order get $DONE -o json --query job_result.price_components.total)
$ errand audit log --kind settled -o json --query "[0].amount_cents == \`$TOTAL\`"
true

# The newest hash is kept elsewhere; nothing up to it can be rewritten unseen.
$ HEAD=$(errand audit head -o id)
$ errand audit verify --head $HEAD -o json --query intact
true
$ errand audit export > audit.ndjson

# A line that is changed, taken away or moved is named, on any machine.
$ sed '2s/"kind":"responded"/"kind":"refused"/' audit.ndjson > changed.ndjson
$ errand audit verify --file changed.ndjson -o json --query 'findings[].[number, finding]' | tr -d ' \n'
? 7
[[2,"changed"]]
! record 2 was changed: its hash does not match what it says
$ sed 3d audit.ndjson | errand audit verify --file - -o json --query 'findings[].message'
? 7
[
  "record 3 is missing"
]
! record 3 is missing

# An end that is cut off leaves a chain that is whole; the hash that was kept shows it.
$ head -3 audit.ndjson > cut.ndjson
$ errand audit verify --file cut.ndjson -o json --query intact
true
$ errand audit verify --file cut.ndjson --head $HEAD -o id > /dev/null
? 7
! no intact record has the hash …: the chain was cut at its end, or rewritten

# A key that takes the place of another is recorded by its fingerprint.
$ errand sandbox mint > /dev/null
! …
$ errand audit log --kind key -o json --query '[0].detail.change'
"switched"
