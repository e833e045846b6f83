/** A request that cannot be answered, in words for the one who made it. */
export class RequestProblem extends Error {
  readonly status: number;

  constructor(message: string, status = 400) {
    super(message);
    this.status = status;
  }
}
