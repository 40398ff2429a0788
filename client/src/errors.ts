/** An answer that is not one of the contract's, such as an HTML page of a balancer. */
export class UnexpectedResponseError extends Error {
  override readonly name = "UnexpectedResponseError";
  readonly response: Response;
  /** The body as it came. */
  readonly text: string;

  constructor(response: Response, text: string) {
    super(
      `The answer ${response.status} from ${response.url} is not JSON, so it does not come from the service.`,
    );
    this.response = response;
    this.text = text;
  }
}
