# An agent's client starts errand mcp and speaks to it on stdin; here a pipe does.
$ HELLO=$(echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"story","version":"1"}}}')
$ echo "$HELLO" | errand mcp | grep -o '"name":"errand"'
"name":"errand"

# A quote looks at an order and sends nothing; placing it makes one order, however often.
$ PRODUCT=$(errand sandbox products -o id | grep test-success)
$ QUOTE=$(echo "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"order_quote\",\"arguments\":{\"products\":[{\"url\":\"$PRODUCT\"}],\"ship_to\":\"home\",\"max_price\":5000}}}")
$ HANDLE=$(printf '%s\n' "$HELLO" "$QUOTE" | errand mcp | grep -o '"quote":"[^"]*"' | cut -d'"' -f4)
$ errand order list -o json
[]
$ PLACE=$(echo "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":\"order_place\",\"arguments\":{\"quote\":\"$HANDLE\"}}}")
$ printf '%s\n' "$HELLO" "$PLACE" | errand mcp | grep -o '"existed":false'
"existed":false
$ printf '%s\n' "$HELLO" "$PLACE" "$PLACE" | errand mcp > /dev/null
$ errand order list -o csv --fields max_price
max_price
5000

# Who asked is in the audit chain.
$ errand audit log --kind quoted -o json --query '[0].command'
"errand mcp order_quote"
$ errand audit log --kind quoted,intent -o json --query "[?contains(actor, 'program story 1')].kind"
[
  "quoted",
  "intent"
]

# Real money is spent only under --live and a policy that limits a day.
$ ERRAND_API_KEY=acme_live_0123456789abcdef0123456789abcdef errand mcp --base-url http://127.0.0.1:9
? 2
! error: …has no test key, and errand mcp was started without --live…
! …An agent rehearses…
! try: …
! try: …
$ ERRAND_API_KEY=acme_live_0123456789abcdef0123456789abcdef errand mcp --live --base-url http://127.0.0.1:9
? 11
! error: --live needs a policy that limits what a day may cost, and there is no policy…
! …Without it…
! try: …
