/**
 * The requirements of a public list of what an agent needs of a command line (cli-agent-spec 1.6), by their ids and in our own
 * words, with what errand does: `met`, `otherwise` (what it is about is had in another form, or errand has nothing that it
 * could be about) or `missing`. The last column names the check in `readiness.test.ts` that shows it. `docs/agents.md` argues
 * whatever is not `met`.
 */
const list = `
F-001 | a fixed table of exit codes | met | exitCodes
F-002 | 2 means that nothing was done | met | refusedFirst
F-003 | JSON by itself without a terminal | otherwise | formats
F-004 | one form for success and failure | otherwise | errorForm
F-005 | output knows no locale | met | sameBytes
F-006 | data on stdout, the rest on stderr | met | streams
F-007 | no escape sequence in JSON | met | hostileText
F-008 | no colour where none is wanted | met | colour
F-009 | no question without a terminal | met | noQuestion
F-010 | no pager in a pipe | met | pager
F-011 | every request has a deadline | met | deadlines
F-012 | a deadline has a code and an error of its own | met | deadlines
F-013 | SIGTERM ends in order | met | signals
F-014 | a closed pipe is no error | met | closedPipe
F-015 | what is typed is checked before anything is done | met | refusedFirst
F-016 | output is valid UTF-8 | met | hostileText
F-017 | bytes travel as text | otherwise | schemas
F-018 | a list says whether it is whole | met | lists
F-019 | a list is bounded unless asked | met | lists
F-020 | the same order each time | met | sameBytes
F-021 | nothing that changes by itself in the data | met | sameBytes
F-022 | version of the shape in every answer | missing |
F-023 | version of the program in every answer | missing |
F-024 | ids of request and trace in every answer | missing |
F-025 | a trace id from the environment | missing |
F-026 | a log that is only appended to | met | audit
F-027 | the working folder in every answer | missing |
F-028 | where settings came from | otherwise | settings
F-029 | no update of itself | met | quiet
F-030 | children end with it | met | children
F-031 | a signal reaches the children | met | children
F-032 | temporary files of its own | met | files
F-033 | waits for locks end | met | together
F-034 | secrets stay out of logs | met | secrets
F-035 | text from outside is marked | otherwise | hostileText
F-036 | proxies of the environment | met | network
F-037 | a network failure says by which way | met | network
F-038 | little is said without a terminal | met | streams
F-039 | duration in every answer | missing |
F-040 | paths are absolute | met | paths
F-041 | the working folder stays | met | paths
F-042 | logs do not fill the disk | otherwise | files
F-043 | temporary files are removed and private | met | files
F-044 | no argument reaches a shell | met | metacharacters
F-045 | made-up ids are refused | met | ids
F-046 | no pager of a child | otherwise | pager
F-047 | no interactive mode without a terminal | met | helpIsPure
F-048 | help on stderr in a pipe | missing |
F-049 | all is written before the end | met | streams
F-050 | no notice of updates | met | quiet
F-051 | traces without secrets | met | secrets
F-052 | bounded answers | otherwise | lists
F-053 | lines leave at once | met | heartbeat
F-054 | stdin is bounded, a file goes too | otherwise | input
F-055 | no editor without a terminal | met | noQuestion
F-056 | JSON is not wrapped | met | hostileText
F-057 | no browser without a screen | met | signIn
F-058 | long secrets are masked | otherwise | secrets
F-059 | forgiving JSON | otherwise | input
F-060 | nobody else writes to stdout | met | streams
F-061 | no endless walk through links | otherwise | noFlags
F-062 | arguments stay whole | met | metacharacters
F-063 | no key, a wrong key and one that may not are told apart | otherwise | keys
F-064 | what is cut says so | met | lists
F-065 | the exit code of a child is passed on | met | children
F-066 | children speak one language | otherwise | children
F-067 | flags anywhere on the line | met | anywhere
F-068 | help and version touch nothing | met | helpIsPure
F-069 | SIGINT ends in order | met | signals
F-070 | files are replaced whole | met | together
F-071 | children hold no file of ours | met | children
F-072 | lines end in LF | met | sameBytes
F-073 | variables have a prefix | met | variables
F-074 | null, absent and empty differ | otherwise | schemas
F-075 | commands and flags stay | met | frozen
F-076 | the first run is like the hundredth | met | firstRun
F-077 | no telemetry | met | quiet
F-078 | retries are counted and can be set | otherwise | network
C-001 | a command names its exit codes | otherwise | exitCodes
C-002 | a command says whether it changes something | otherwise | dryRun
C-003 | a change says what it was | otherwise | oneOrder
C-004 | a rehearsal of what acts | met | dryRun
C-005 | a flag that answers yes, one that never asks | met | noQuestion
C-006 | what is typed wrongly is told before the network | met | refusedFirst
C-007 | a key makes a repetition harmless | otherwise | oneOrder
C-008 | steps are told as they come | otherwise | heartbeat
C-009 | several at once: what became of each | met | several
C-010 | what stays in the background is declared | otherwise | children
C-011 | what is left on disk is declared | otherwise | paths
C-012 | a flag for the deadline | met | deadlines
C-013 | an error has a code and a message | otherwise | errorForm
C-014 | an error says whether to try again, and when | met | errorForm
C-015 | shapes of what goes in and out | met | schemas
C-016 | secrets come by file or environment | met | secrets
C-017 | what is held is given back | met | signals
C-018 | what a platform must have | otherwise | doctor
C-019 | programs that are started are declared | otherwise | metacharacters
C-020 | ids have a form | met | ids
C-021 | signing in without a screen | met | signIn
C-022 | what goes on later has an id and a command | otherwise | later
C-023 | another way than the editor | met | noQuestion
C-024 | another way than the browser | met | signIn
C-025 | where settings are written | otherwise | paths
C-026 | flags that need or exclude one another | otherwise | refusedFirst
C-027 | where flags may stand | met | anywhere
C-028 | what exists already is shown | otherwise | oneOrder
C-029 | rights that a command needs | otherwise | keys
C-030 | an error has the command that mends it | met | inDoubt
O-001 | a flag for the format | met | formats
O-002 | a flag for the fields | otherwise | formats
O-003 | pages of a list | otherwise | lists
O-004 | one record a line | met | formats
O-005 | ids alone | met | formats
O-006 | ids from stdin | otherwise | several
O-007 | output that can be compared | otherwise | sameBytes
O-008 | three levels of what is said | missing |
O-009 | checking alone | otherwise | dryRun
O-010 | going on where it stopped | otherwise | inDoubt
O-011 | taking back what was begun | otherwise | several
O-012 | a sign of life on stderr | otherwise | heartbeat
O-013 | shapes by a command | met | schemas
O-014 | an older shape on demand | missing |
O-015 | settings as they hold | met | settings
O-016 | without any configuration | otherwise | isolated
O-017 | a flag for the folder | missing |
O-018 | flags for caches | otherwise | noFlags
O-019 | flags for proxies | otherwise | network
O-020 | a flag against update checks | otherwise | quiet
O-021 | what cannot be undone wants a flag | otherwise | noQuestion
O-022 | secrets by file | met | secrets
O-023 | a flag against marking | otherwise | noFlags
O-024 | named contexts, other configurations | met | isolated
O-025 | warnings as errors | missing |
O-026 | a doctor | met | doctor
O-027 | a command that cleans up | otherwise | files
O-028 | a command for the state | otherwise | settings
O-029 | a command for the history of shapes | missing |
O-030 | a command for the log | met | audit
O-031 | versions of what is needed | otherwise | doctor
O-032 | a payload whole | met | input
O-033 | a key from the environment | met | keys
O-034 | skills for agents | otherwise | skill
O-035 | tools and commands do not drift apart | otherwise | tools
O-036 | agents apart from each other | otherwise | isolated
O-037 | a flag that unmasks | otherwise | noFlags
O-038 | a sign of life in the data | otherwise | heartbeat
O-039 | a file in place of stdin | met | input
O-040 | flags for walks through folders | otherwise | noFlags
O-041 | one document of all commands | missing |
O-042 | the format by environment | met | formats
O-043 | a page for agents | otherwise | skill
O-044 | installing without a question | otherwise | skill
O-045 | the version in what is made for agents | otherwise | tools
O-046 | the page for agents is checked | otherwise | skill
O-047 | a command for rights | otherwise | keys
O-048 | rehearsal unless told otherwise | otherwise | rehearses
O-049 | limits in tokens | missing |
O-050 | many commands in one process | missing |
`;

export interface Requirement {
  readonly id: string;
  readonly status: string;
  /** Name of the check that shows it; '' for what is missing. */
  readonly check: string;
}

export const requirements: readonly Requirement[] = list
  .trim()
  .split('\n')
  .map((line) => {
    const [id = '', , status = '', check = ''] = line.split('|').map((part) => part.trim());
    return { id, status, check };
  });
