# Above $100 a second person must say yes, with an SSH key that the policy names.
$ ssh-keygen -q -t ed25519 -N '' -C ada -f ada; ssh-keygen -q -t ed25519 -N '' -C bob -f bob
$ printf 'version: 1\napprove: { above: $100 }\napprovers: [ada.pub]\n' > policy.yaml; chmod 600 policy.yaml
$ ERRAND_POLICY=$(echo $PWD/policy.yaml)

# Bob orders. Nothing is sent: what he wants is asked for, and the message says what comes next.
$ URL=$(errand sandbox products -o id | grep test-success)
$ errand order create --product $URL --max-price '$150' --ship-to home
? 11
! error: the policy requires approval for this order: approve.above: $151.00 is above $100.00; nothing was sent …
! try: errand approval show … — to see what is to be approved
! try: errand approval approve … --key ~/.ssh/id_ed25519 — for whoever may approve it
$ ID=$(errand approval list -o id)
$ errand approval list -o csv --fields state,total_cents,subject
state,total_cents,subject
open,15100,order

# His own key is not one of an approver; Ada's is. Hers may be on another machine: she signs what is exported.
$ errand approval approve $ID --key bob
? 11
! error: nothing was approved: approval … is signed with SHA256:…, and …policy.yaml does not name that key as an approver …
$ errand approval export $ID | ssh-keygen -q -Y sign -n errand-approval -f ada | errand approval import -o id > /dev/null

# The same command goes through now, once, and for no cent more.
$ errand order create --product $URL --max-price '$150.01' --ship-to home
? 11
! error: … approval … covers $151.00, and this takes $151.01 …
$ errand order create --product $URL --max-price '$150' --ship-to home -o id > placed
$ errand order create --product $URL --max-price '$150' --ship-to home --new
? 11
! error: … was already used for …, and works only once …
$ errand approval show $ID -o json --query state
"used"

# His new request is denied, so the command does not request it again.
$ errand approval list -o id | xargs -n 1 errand approval deny > /dev/null
$ errand order create --product $URL --max-price '$150.01' --ship-to home --new
? 11
! error: … approval … was denied …
! hint: … It will not be requested again before …, but an approver can still approve it.

# Who asked, who said yes and what came of it stands in the audit chain.
$ errand audit log --kind approved,approval_used -o csv --fields kind,amount_cents
kind,amount_cents
approved,15100
approval_used,15100
