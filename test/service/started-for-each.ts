import { afterEach, beforeEach, expect } from 'vitest';
import { TestService } from './service.ts';

/** Starts a service for each test and gives it away; it stops with its test, and none of its bugs goes unseen. */
export function startedForEach(give: (service: TestService) => void): void {
  let service: TestService;
  beforeEach(async () => {
    service = await TestService.start();
    give(service);
  });
  afterEach(async () => {
    await service.stop();
    expect(service.bugs).toEqual([]);
  });
}
