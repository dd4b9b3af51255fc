/** Thrown instead of sending, for `--dry-run` and `--curl`: carries the request, without secrets. */
export class RequestPreview extends Error {
  override readonly name = 'RequestPreview';
  readonly text: string;

  constructor(text: string) {
    super('the request is shown, not sent');
    this.text = text;
  }
}
