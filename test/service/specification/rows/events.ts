/** The rows of the specification's Events, and its rules. */
export const eventRows = {
  'event request_succeeded': 'a request succeeds; order_placed names it too',
  'event request_failed': 'a request fails; order_failed names it too',
  'event tracking_obtained': 'all tracking of an order has been obtained',
  'event tracking_updated': 'any tracking of an order has been obtained or updated',
  'event status_updated': 'the status of a request changes',
  'event case_updated': 'a case tied to the order receives an update',
  'event rule 1': 'no address for an event: no webhook for it',
  'event rule 2': 'an array of addresses: every one is called',
  'event rule 3': 'delivery at least once: what was not taken comes again',
  'event rule 4': 'not signed; a secret in the query of the address is kept',
  'event rule 5': 'the body of a failed order carries error_type',
} as const;
