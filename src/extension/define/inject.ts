/** How a text is injected. */
export interface InjectOptions {
  /** The name of the text in this extension: the same key is written once. */
  readonly key?: string;
}
