# A configuration that is not JSON is never taken for an empty one, and a write keeps it aside.
$ mkdir -p "$ERRAND_CONFIG_DIR"; echo '{"profiles": ' > "$ERRAND_CONFIG_DIR/config.json"
$ errand wallet
? 2
! error: the configuration …config.json is not JSON…

$ errand config set output json
! …it is kept as …config.json.broken-…
$ ls "$ERRAND_CONFIG_DIR"
config.json
config.json.broken-…
$ errand config set output

# Folders that cannot be used are named.
$ ERRAND_CONFIG_DIR=/dev/null/x errand wallet
? 1
! error: /dev/null/x/config.json cannot be read (a part of the path is not a folder)
$ ERRAND_STATE_DIR=/dev/null/x errand wallet
? 1
! error: the folder /dev/null/x cannot be made or written …
! hint: …
$ ERRAND_STATE_DIR=/proc/x errand wallet
? 1
! error: the folder /proc/x cannot be made or written (there is no such file or folder)
! hint: …
$ touch file; ERRAND_STATE_DIR="$PWD/file" errand wallet
? 1
! error: the folder …file cannot be made or written (a file stands in its place)
! hint: …
$ ERRAND_STATE_DIR=st errand wallet
? 2
! error: ERRAND_STATE_DIR must be an absolute path: "st" is another folder, with another journal, in each directory
! hint: Write …st if you mean the folder in this directory.

# A full disk under stdout is told; a reader that goes is no failure.
$ errand retailer list > /dev/full
? 1
! error: …
$ errand retailer list | head -1
RETAILER…
$ errand --help > /dev/full
? 1
! error: cannot write the output: ENOSPC…
