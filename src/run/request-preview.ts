/** Thrown instead of sending a request, for `--dry-run` and `--curl`. Carries the request without secrets. */
export class RequestPreview extends Error {
  override readonly name = 'RequestPreview';
  readonly text: string;

  constructor(text: string) {
    super('the request is shown, not sent');
    this.text = text;
  }
}
