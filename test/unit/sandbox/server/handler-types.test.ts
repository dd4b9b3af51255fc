import { describe, expectTypeOf, test } from 'vitest';
import type { OrderStatus, SearchSort } from '../../../../src/api/enums.ts';
import type { Call, QueryOf } from '../../../../src/sandbox/server/handler.ts';

// These are checked at build time by the type checker; running them adds nothing.

describe('a handler reads its request as its row of the table declares it', () => {
  test('a parameter that is required or has a default is always there', () => {
    expectTypeOf<QueryOf<'search'>['q']>().toEqualTypeOf<string>();
    expectTypeOf<QueryOf<'order.list'>['limit']>().toEqualTypeOf<number>();
    expectTypeOf<Call<'order.get'>['path']['order_id']>().toEqualTypeOf<string>();
  });

  test('any other may be absent', () => {
    expectTypeOf<QueryOf<'search'>['min_price']>().toEqualTypeOf<number | undefined>();
    expectTypeOf<QueryOf<'order.list'>['has_tracking']>().toEqualTypeOf<boolean | undefined>();
    expectTypeOf<QueryOf<'product.search'>['page']>().toEqualTypeOf<number | null | undefined>();
  });

  test('a parameter has the values that its row lists', () => {
    expectTypeOf<QueryOf<'search'>['sort']>().toEqualTypeOf<SearchSort>();
    expectTypeOf<QueryOf<'order.export'>['status_filter']>().toEqualTypeOf<OrderStatus | undefined>();
    expectTypeOf<QueryOf<'order.list'>['include']>().toEqualTypeOf<
      readonly 'tracking_events'[] | undefined
    >();
  });

  test('a misspelt or foreign name does not compile', () => {
    const misspelt = (call: Call<'order.list'>) => [
      // @ts-expect-error: the row says `offset`
      call.query.ofset,
      // @ts-expect-error: only the cross-retailer search has `sort`
      call.query.sort,
      // @ts-expect-error: the path of a listing has no parameter
      call.path.order_id,
      // @ts-expect-error: a GET has no body
      call.body.url,
    ];
    const created = (call: Call<'order.create'>) => [
      // @ts-expect-error: the body says `max_price`
      call.body.maxPrice,
      // @ts-expect-error: creating an order has no query
      call.query.limit,
    ];
    expectTypeOf(misspelt).returns.toBeArray();
    expectTypeOf(created).returns.toBeArray();
  });
});
