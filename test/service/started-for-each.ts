import { afterEach, beforeEach, expect } from 'vitest';
import { TestService } from '../support/service.ts';

/** Starts a service for each test and passes it to `give`; stops it afterwards and asserts that it reported no bugs. */
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
