import type { Service } from '../../server/service.ts';
import type { SandboxRequest, SandboxResponse } from '../../server/wire.ts';
import type { PageName, PagePath } from './routes.ts';

/** A request for any page. */
export interface AnyPageRequest {
  readonly service: Service;
  readonly request: SandboxRequest;
  readonly path: Readonly<Record<string, string>>;
  /** The query, without its mark. */
  readonly search: string;
}

/** A request for a page, with the parameters that its row of the routes has. */
interface PageRequest<N extends PageName> extends AnyPageRequest {
  readonly path: PagePath<N>;
}

/** @throws Refusal, DatabaseError. */
export type Page<N extends PageName> = (
  request: PageRequest<N>,
) => SandboxResponse | Promise<SandboxResponse>;
