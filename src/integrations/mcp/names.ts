/** Names and summaries of all tools. Help and TAB completion use these, and so need not load the tools. */
export const toolNames = {
  search: 'search products',
  product_get: "read a product's details",
  retailer_check: 'check whether a URL can be ordered',
  retailers: 'list the retailers',
  order_quote: 'look at an order before it is placed',
  order_place: 'place a quoted order, once',
  order_get: 'read an order',
  order_list: 'list orders',
  order_watch: 'wait for an order',
  order_cancel: 'cancel an order',
  order_explain: 'explain an order',
  return_create: 'ask to return items',
  wallet: 'read the wallet, and what the policy leaves',
  describe_operation: 'describe what else can be read',
  call_operation: 'read anything else',
} as const;

export type ToolName = keyof typeof toolNames;
