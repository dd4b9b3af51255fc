// A client of the scheme's reference library, with a wallet that has no money.
import { x402Client } from '@x402/core/client';
import { registerExactEvmScheme } from '@x402/evm/exact/client';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';

export const client = x402Client.fromConfig({ schemes: [], spendControls: { maxAmountPerPayment: '$100' } });
registerExactEvmScheme(client, {
  signer: privateKeyToAccount(generatePrivateKey()),
});
