/** How the filters of orders are shown, by `list` and `export`. */
export const orderFilters = {
  group: 'Filters',
  rename: { status_filter: 'status' },
  completes: { order_id: 'orders' },
} as const;
