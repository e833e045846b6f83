/** The author of a contribution. */
export interface Author {
  readonly extensionId: string;
  readonly contributionId: string;
}
