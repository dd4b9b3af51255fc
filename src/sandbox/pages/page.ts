import type { SandboxRequest, SandboxResponse } from '../http/wire.ts';
import type { Service } from '../service.ts';

/** A request for a page, as the page sees it. */
export interface Asked {
  readonly service: Service;
  readonly request: SandboxRequest;
  /** What the path's pattern captured. */
  readonly parts: readonly string[];
  /** The query, without its mark. */
  readonly search: string;
}

/** @throws Refusal, DatabaseError. */
export type Page = (asked: Asked) => SandboxResponse | Promise<SandboxResponse>;
