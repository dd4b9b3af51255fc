import { prefersHtml } from './prefers-html.ts';
import { headerOf, type SandboxRequest, type SandboxResponse } from './wire.ts';

/** The refusal of a body, in the form that its sender reads: a browser shows what it gets. @param refusal in JSON. */
export async function forReader(
  request: Pick<SandboxRequest, 'headers'>,
  refusal: SandboxResponse,
): Promise<SandboxResponse> {
  if (!prefersHtml(headerOf(request, 'accept'))) return refusal;
  const [{ htmlPage }, { html }] = await Promise.all([
    import('../console/pages/html.ts'),
    import('../../platform/html.ts'),
  ]);
  const { message }: { message: string } = JSON.parse(String(refusal.body));
  const page = htmlPage('Not taken', html`<p class="lead">${message}</p>`, {
    status: refusal.status,
    narrow: true,
  });
  return { ...page, headers: { ...refusal.headers, ...page.headers } };
}
