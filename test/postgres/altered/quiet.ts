/**
 * Fields, and what may be done to rows, that no command has to name, each with the reason: nothing is decided by them. A name
 * stands for all that is in it.
 */
const quiet: Readonly<Record<string, string>> = {
  'approvals.approved.decided_at': 'shown; the signature says what was approved',
  'approvals.approved.decided_by': 'shown; the signature says by whom it was approved',
  'approvals.open':
    'an open request lets nothing through: an approver signs what is shown, and what is signed is compared with the order',
  'campaign_chunks.count': 'the rows of a batch, for the progress that is shown',
  'campaign_chunks.is as it was': 'a batch that is done again has its key, and is one order',
  'campaign_chunks.not_before': 'when a batch is tried again',
  'campaign_chunks.result': 'without a result, a batch is done again: it has its key, and is one order',
  'campaign_chunks.worker': 'who works on a batch: two that do have the same key',
  'campaigns.created_at': 'when an upload is forgotten',
  'campaigns.reader': 'who reads the file: two that do make the same batches',
  'campaigns.sent_with': 'shown: the masked key',
  'facts.address_salt': 'makes hashes of addresses in the log, which are for searching',
  'facts.chain_from': 'how many requests are older than the chain: one that has a request says so itself',
  'grants.api_key': 'sealed for the machine that paid: what opens is the key, whatever follows its text',
  'grants.comes from another schema': 'the key of an order that this machine did not pay for does not open',
  'grants.created_at': 'shown',
  'grants.receipt': 'shown: what was paid, and where',
  'quotes.made': 'shown: the order that came of it, which is read from the record of its key',
  'quotes.used': 'whether it is placed is what the record of its key says, and a quote has one key',
  request_budgets: 'how fast requests are sent',
  workers: 'who is at work: two that are have the same keys',
};

/** Numbers the change that a row came with: what copies read, and when. */
const isNumbering = (field: string): boolean => field.endsWith('.seq');

/**
 * Tables of which not every field is sorted yet into those that decide something and those that do not. What is spent and sent is
 * judged all the same.
 */
const unsorted: readonly string[] = [
  ...['intents', 'audit', 'reservations', 'tally', 'leases', 'heads', 'removed', 'schema'],
  ...['attempts', 'attempt_accounts', 'attempt_parts', 'attempt_settings'],
  ...['layouts', 'uploads', 'upload_batches', 'row_blocks', 'upload_rows'],
];

/** Whether a case need not be named. @param field as the case has it. */
export const isQuiet = (field: string): boolean =>
  isNumbering(field) ||
  unsorted.includes(field.split('.')[0] ?? '') ||
  Object.keys(quiet).some((name) => field === name || field.startsWith(`${name}.`));
