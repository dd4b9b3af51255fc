/** Thrown in place of sending, for `--dry-run` and `--curl`: what would have been sent, secrets left out. */
export class RequestPreview extends Error {
  override readonly name = 'RequestPreview';
  readonly text: string;

  constructor(text: string) {
    super('the request is shown, not sent');
    this.text = text;
  }
}
