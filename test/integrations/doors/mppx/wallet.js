// A wallet program made with the public SDK: challenge on stdin, credential on stdout.
import { text } from 'node:stream/consumers';
import { Challenge, Credential } from 'mppx';

const challenge = Challenge.from(JSON.parse(await text(process.stdin)));
console.log(Credential.serialize({ challenge, payload: { signature: '0x1' } }));
