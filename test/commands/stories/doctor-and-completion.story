# On a fresh machine all is well. Time stands still: a service that is slow to respond would be trouble.
$ CLOCK_STILL_AT=$(date +%s000)
$ errand doctor
CHECK…
…
key            ok …none yet; the sandbox mints one when it is first needed
…

# A misspelt setting, and a state folder that others can enter: each with what to do about it.
$ mkdir -p -m 755 "$ERRAND_STATE_DIR" && mkdir -p -m 700 "$ERRAND_CONFIG_DIR" && chmod 755 "$ERRAND_STATE_DIR"
$ (umask 077; echo '{"preferences": {"colour": true}}' > "$ERRAND_CONFIG_DIR/config.json")
$ errand doctor
? 7
CHECK…
…
configuration  trouble …holds what nothing reads: preferences.colour
permissions    trouble …can be used by others: its mode is 755
…
! configuration: Correct or remove it in …config.json.
! permissions: Its mode is 700 now. …

# Completion asks the program; the script itself is for the shell to load.
$ errand completion fish | tail -1
complete -c errand …
$ source <(errand completion bash); complete -p errand
complete -F _errand errand
$ source <(errand completion bash); COMP_WORDS=(x ord) COMP_CWORD=1 COMP_LINE='x ord' COMP_POINT=5; _errand; echo "$COMPREPLY"
order
$ errand __complete -- order list --status wait | tr '\0\t' '\n|'
words
waiting|
$ printf 'Ort\n' > maps.csv; errand bulk validate maps.csv --local --map Ort=city --save-map shopify
? 2
…
$ errand __complete -- bulk upload maps.csv --use-map '' | tr '\0\t' '\n|' | cut -c1-40
words
shopify|Ort
woocommerce|orders exported from WooComm
amazon-business|items exported from Amaz
amazon-seller|a seller's order report fr
etsy|order items sold on Etsy; give each
ebay|an orders report from eBay; give ea
square|orders exported from Square Onlin
bigcommerce|orders exported from BigComm
magento|order items exported from Magent
$ errand completion tcsh
? 2
! error: shell takes one of bash, zsh, fish, powershell, not "tcsh"
