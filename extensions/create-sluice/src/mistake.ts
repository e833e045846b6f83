/** A mistake that the person at the command line has to fix. */
export class Mistake extends Error {
  override readonly name = 'Mistake';

  /** @param exitCode as of the command `sluice`: 2 if nothing was done, 1 if something failed on the way. */
  constructor(
    readonly code: string,
    what: string,
    readonly hint: string,
    readonly exitCode: 1 | 2 = 2,
    options?: ErrorOptions,
  ) {
    super(what, options);
  }
}
