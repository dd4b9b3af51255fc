/** The policy that `policy init` writes. A test parses it both with and without its comments. */
export const examplePolicy = `# What errand may spend. Every order is held to this file before it is sent, whichever command places it.
# Amounts are ceiling and fee together, with a sign or decimals: $200, 200.00. See \`errand help policy\`.
version: 1

limits:
  per_order: $200
  per_day: $2,000
  # per_month: $20,000
  # per_batch: $10,000         # one upload, the whole file
  # quantity_per_line: 10

# Days and months begin in this time zone.
time_zone: UTC

# Retailers by name (\`errand retailer list\`) or host; allow or deny.
# retailers:
#   allow: [www.shop.example]

# Where orders may go.
# countries: [US]

# Product URLs that are never ordered; * stands for any text.
# urls:
#   deny: ["*gift-card*"]

# The same limits for a part of the orders. Within braces, quote amounts that have a comma.
# per:
#   - { retailer: www.shop.example, per_day: $500 }
#   - { metadata: { team: office }, per_month: "$1,000" }

# The same product (and variant) to the same address again, in whichever spelling: warn, approve or refuse.
# An address is a name, a street, a postal code and a country. No flag of a command lifts it.
# duplicates: { same: [product, address], within: 7d, then: warn }

# Above this a person must say yes; the yes can be used for a day, unless expires says otherwise for single orders.
# With upload_above, a whole upload above that is approved once, as it is: one changed cell needs another yes.
# approve: { above: $100, upload_above: "$5,000", expires: 24h }

# Files of SSH public keys, beside this file: then a yes is a signature by one of them, and so is an override.
# approvers: [ada.pub]

# Whether the sandbox and test keys are held to it, counted apart from real orders: count or exempt.
rehearsals: count

# Whether whoever sits at a terminal may override it with --override-policy: terminal or never.
overrides: terminal
`;
