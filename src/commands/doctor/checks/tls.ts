import { type Check, ok, trouble } from '../check.ts';

export const tls: Check = {
  name: 'tls',
  run: ({ context }) =>
    context.settings.tlsChecksOff
      ? trouble(
          'NODE_TLS_REJECT_UNAUTHORIZED=0 turns certificate checks off: anyone on the way can read the key',
          'Unset it; for a certificate of your own, name its file in NODE_EXTRA_CA_CERTS.',
        )
      : ok('certificates are checked'),
};
