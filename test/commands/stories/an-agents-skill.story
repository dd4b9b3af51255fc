# An agent that has a shell reads how to buy: the file is put where it looks, and taken away again.
$ errand skill install --target claude --yes -o json --query result
"installed"
$ errand skill install --target claude --yes -o json --query result
"unchanged"
$ grep -c 'errand order create' .claude/skills/errand/SKILL.md | sed 's/[1-9][0-9]*/some/'
some

# What somebody changed is left alone.
$ echo 'my own words' >> .claude/skills/errand/SKILL.md
$ errand skill install --target claude --yes
! hint: Move it away, and install anew.
? 2
$ errand skill remove --target claude --yes
! hint: Move it away, and install anew.
? 2

# A link is not followed.
$ mkdir elsewhere && ln -s ../elsewhere .agents && errand skill install --target agents --yes
? 2
$ ls elsewhere
