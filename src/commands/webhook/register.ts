import { defineCommand } from '../../cli/define.ts';
import { maskAddress } from '../../integrations/webhooks/listener.ts';
import { UsageError } from '../../platform/errors.ts';
import { redacted } from '../../platform/redact/redactor.ts';
import { registrationScope, saveSigningSecret } from './registration.ts';

const maxAddressLength = 8192;

export const register = defineCommand({
  name: 'register',
  summary: 'Register the address that the service sends events to',
  description:
    'One address for each account, and one for test mode. Where events are not signed, put a secret into the address, or read the order again when one comes; where they are, errand keeps the secret for `errand webhook listen`. No secret is shown.',
  arguments: [{ name: 'url', description: 'http or https address; - reads it from stdin', required: true }],
  examples: [
    {
      command: 'errand webhook register http://127.0.0.1:3000/hooks',
      note: 'every event goes there; the sandbox sends to this machine only',
    },
    {
      command: "echo 'http://127.0.0.1:3000/hooks?token=s3cret' | errand webhook register -",
      note: 'a secret stays out of the shell history',
    },
    {
      command: 'errand webhook register http://127.0.0.1:3000/hooks --dry-run',
      note: 'what would be sent',
    },
  ],
  output: { record: 'webhook.register' },
  operations: ['webhook.register'],
  related: ['webhook listen', 'webhook events'],
  async run(context, { url }) {
    const address = url === '-' ? (await context.readInput(maxAddressLength)).toString('utf8').trim() : url;
    const { checkShape } = await import('../../api/schemas/check.ts');
    const { value: body, issues } = checkShape('WebhookRegistration', { webhook_url: address }, 'body');
    if (!body)
      throw new UsageError(`the address cannot be registered: ${issues[0]?.msg ?? 'it is not a URL'}`);
    const client = await context.client();
    const response = await client.call('webhook.register', { body });
    const { registrations } = await context.webhooks();
    await registrations.setPermanent(registrationScope(context), address);
    const isSigned = await saveSigningSecret(context, response.body);
    const shown = maskAddress(address);
    return {
      kind: 'record',
      record: {
        ...response.body,
        webhook_url: shown,
        ...(isSigned && { webhook_secret: redacted }),
      },
      columns: [
        { name: 'account', path: 'id', kind: 'id' },
        { name: 'events go to', path: 'webhook_url' },
      ],
      hints: isSigned
        ? ['its events are signed; `errand webhook listen` refuses those whose signature is missing or wrong']
        : shown.includes('…')
          ? []
          : ["the address holds no secret: anyone who knows it can send events that look like the service's"],
    };
  },
});
