export const orderId = '11111111-1111-4111-8111-111111111111';

export const order = (status: string, more: Record<string, unknown> = {}): Record<string, unknown> => ({
  object: 'order',
  id: orderId,
  status,
  ...more,
});
