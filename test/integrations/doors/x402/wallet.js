// A wallet program made with the reference library: what is required on stdin, the payment on stdout.
import { text } from 'node:stream/consumers';
import { encodePaymentSignatureHeader } from '@x402/core/http';
import { client } from './client.js';

const required = JSON.parse(await text(process.stdin));
console.log(encodePaymentSignatureHeader(await client.createPaymentPayload(required)));
