# Coffee is bought again: the same product, to the same door, under the same ceiling.
$ MUG=$(errand search coffee --limit 1 -o id)
$ FIRST=$(errand order create --product $MUG,quantity=2 --max-price '$90' --ship-to home --metadata team=office -o id)

# A script that runs the same line twice means one order.
$ errand order create --like $FIRST
? 5
! like order …:
!   2 x https://…
!   ceiling   $90.00
!   ship to   Ada Example, 100 Congress Avenue, Austin TX 78701 US
!   metadata  team=office
! error: the same order was placed …; no second one was placed…
! try: errand order create --like … --new — for another order

$ errand order create --like $FIRST --product $MUG,quantity=3 --max-price '$120' --new --dry-run -o json | grep -c '"quantity": 3'
1

$ errand order create --like $FIRST --new --watch --until placed -o json --query '[status, max_price, metadata.team]' | tr -d ' \n'; echo
["order_placed",9000,"office"]

$ errand order list -o id | wc -l | tr -d ' '
2
